// A program without exceptions and without type information: a call over shared memory, served by a thread, and a failure told.
#include <cstdio>
#include <ipc/ipc.hpp>
#include <string>
#include <thread>

namespace {

bool expect(bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "%s: %s\n", what, ipc_last_error());
    return holds;
}

} // namespace

int main() {
    static_assert(!IPC_HAS_EXCEPTIONS);
    const std::string address =
        "shm://no-exceptions-" + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
    ipc::Result<ipc::Listener> listener = ipc::Listener::try_listen(address);
    if (!expect(static_cast<bool>(listener), "listen")) return 1;
    std::thread server([&] {
        ipc::Result<ipc::Channel> channel = listener->try_accept(10'000);
        if (!expect(static_cast<bool>(channel), "accept")) return;
        const ipc::Result<void> served = channel->try_serve([](ipc::Bytes request, ipc::ReplyWriter& reply) {
            (void)expect(static_cast<bool>(reply.try_write(request.text())), "reply");
        });
        (void)expect(static_cast<bool>(served), "serve");
    });
    bool good = false;
    {
        ipc::Result<ipc::Channel> client = ipc::Channel::try_connect(address, 10'000);
        if (expect(static_cast<bool>(client), "connect")) {
            const ipc::Result<ipc::Bytes> reply = client->try_call_peek("echo", 4, 10'000);
            good = expect(reply && reply->text() == "echo", "call") &&
                   expect(static_cast<bool>(client->try_release()), "release");
        }
    }
    server.join();
    const ipc::Result<ipc::Channel> nobody = ipc::Channel::try_connect("shm://nobody-listens-here");
    return good && expect(nobody.status() == IPC_NO_SERVER, "nobody") ? 0 : 1;
}
