#include "pair.hpp"

#include <atomic>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>

Links::Links(ipc::shared_memory::WaitMode wait, uint64_t data_bytes) {
    using namespace ipc::shared_memory;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot make a pair of sockets");
    Segment* made = nullptr;
    ipc::check(Segment::offer(ends[0], Layout::slots, 256, data_bytes, {wait, 50'000}, &made));
    server.reset(made);
    ipc::check(Segment::take_up(ends[1], Layout::slots, {wait, 50'000}, {}, ipc::Deadline(5000), &made));
    client.reset(made);
}

Channels::Channels(const std::string& options) {
    static std::atomic<int> number{0};
    const std::string address =
        "shm://bench-" + std::to_string(getpid()) + "-" + std::to_string(++number) + "?" + options;
    ipc::Listener listener(address);
    std::thread connecting([&] { client = ipc::Channel::connect(address, 5000); });
    server = listener.accept(5000);
    connecting.join();
}
