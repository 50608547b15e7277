// Takes orders out of a queue and prints them, one a line: worker ADDRESS [DELAY-MS], until the queue has been empty for half a second.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ipc/ipc.hpp>
#include <string_view>
#include <thread>

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: worker ADDRESS [DELAY-MS]\n");
        return 2;
    }
    try {
        ipc::Queue orders(argv[1]);
        const std::chrono::milliseconds delay(argc > 2 ? std::atoi(argv[2]) : 0);
        char order[100];
        ipc::Result<size_t> length = orders.try_dequeue(order, sizeof order, 500);
        for (; length; length = orders.try_dequeue(order, sizeof order, 500)) {
            std::printf("%.*s\n", static_cast<int>(*length), order);
            // What a killed worker has printed is done; what it has taken and not printed is the one order it loses.
            std::fflush(stdout);
            std::this_thread::sleep_for(delay);
        }
        if (!length.timed_out()) ipc::check(length.status());
    } catch (const ipc::Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
