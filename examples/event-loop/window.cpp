// A program with an event loop, as one with a window has: the same loop turns for its own events, here a timer's, and for what a
// service sends. No thread waits for the service, and nothing throws. window [ADDRESS]
#include <cstdint>
#include <cstdio>
#include <ipc/ipc.hpp>
#include <poll.h>
#include <string_view>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

int fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, ipc_last_error());
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    ipc::Result<ipc::Channel> service = ipc::Channel::try_connect(argc > 1 ? argv[1] : "unix://notices", 1000);
    if (!service) return fail("cannot connect");
    const ipc::Result<intptr_t> descriptor = service->try_descriptor();
    if (!descriptor) return fail("cannot wait for it in a loop");

    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const itimerspec every_10_ms{{0, 10'000'000}, {0, 10'000'000}};
    timerfd_settime(timer, 0, &every_10_ms, nullptr);
    pollfd sources[] = {{timer, POLLIN, 0}, {static_cast<int>(*descriptor), POLLIN, 0}};
    int frames = 0;
    while (true) {
        // Everything that has arrived: messages may have come together, and the descriptor then tells of them only once.
        ipc::Result<ipc::Bytes> notice = service->try_peek();
        for (; notice; notice = service->try_peek()) {
            std::printf("%.*s\n", static_cast<int>(notice->size), notice->text().data());
            if (!service->try_release()) return fail("cannot give the message back");
        }
        if (!notice.timed_out()) break;
        poll(sources, 2, -1);
        uint64_t expirations = 0;
        if (sources[0].revents != 0 && read(timer, &expirations, sizeof expirations) > 0) ++frames; // draw a frame
    }
    close(timer);
    std::printf("%s\n", frames > 5 ? "the window was drawn meanwhile" : "the window stood still");
    return 0;
}
