// Publishes numbered messages to every subscriber: publisher ADDRESS SUBSCRIBERS MESSAGES
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ipc/ipc.hpp>
#include <string>
#include <thread>

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: publisher ADDRESS SUBSCRIBERS MESSAGES\n");
        return 2;
    }
    try {
        ipc::Publisher prices(argv[1]);
        const size_t wanted = std::strtoul(argv[2], nullptr, 10);
        while (prices.subscribers() < wanted) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const int messages = std::atoi(argv[3]);
        // Returns as soon as the message is where all read it; only subscribers with policy=wait (the default) can hold it up.
        for (int i = 0; i < messages; ++i) prices.publish("price " + std::to_string(i));
        std::printf("published %d messages to %zu subscribers\n", messages, wanted);
    } catch (const ipc::Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
