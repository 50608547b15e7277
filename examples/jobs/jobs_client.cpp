// Starts two jobs at the service, watches them, and cancels the long one when the short one is done.
//   jobs_client [ADDRESS]
#include <chrono>
#include <cstdio>
#include <ipc/ipc.hpp>
#include <string>
#include <thread>

int main(int argc, char** argv) {
    try {
        ipc::Channel service = ipc::Channel::connect(argc > 1 ? argv[1] : "unix://jobs", 1000);
        const std::string brief = service.call("start 10", 1000);
        const std::string lengthy = service.call("start 1000", 1000);
        while (true) {
            const std::string progress = service.call("progress " + brief, 1000);
            if (progress == "10/10") break;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        std::printf("job %s is done\n", brief.c_str());
        const std::string cancelled = service.call("cancel " + lengthy, 1000);
        const bool ended = cancelled.find("/1000 cancelled") != std::string::npos;
        std::printf("job %s is %s\n", lengthy.c_str(), ended ? "cancelled" : cancelled.c_str());
        try {
            service.call("progress 99", 1000);
        } catch (const ipc::Error& e) { // what the service threw; the connection stays good
            std::printf("%s\n", e.what());
        }
    } catch (const ipc::Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
