// A native process that has .NET code play its part: the lab's peer and the conformance suite's puppet of side `hosted`.
//   ipc-hosted ASSEMBLY TYPE METHOD [ARGUMENT...]
// METHOD is a static [UnmanagedCallersOnly] method of type Main below. What it serves is received here, in C++, which calls .NET for every
// request; what it calls, it calls through the library that this program is linked with.
#include <cstdio>
#include <ipc/hosting.hpp>
#include <list>

namespace {

std::string assembly;

// Answers one request by the steps of ipc.h (ipc_reply and so on); not 0 when it could not.
using Exchange = int32_t(IPC_CALL*)(void* service, const void* request, size_t length);

// Until the channel ends or an exchange fails.
ipc_status IPC_CALL serve(ipc_channel* channel, Exchange exchange, void* service) {
    for (;;) {
        const void* request = nullptr;
        size_t length = 0;
        if (const ipc_status status = ipc_receive_request(channel, &request, &length, IPC_FOREVER)) return status;
        if (exchange(service, request, length) != 0) return IPC_OK;
    }
}

// A handler of the assembly as the two arguments of ipc_serve, good until the process ends. nullptr: ipc_hosting_last_error.
ipc_handler IPC_CALL handler(const char* type, const char* method, void** user) {
    static std::list<ipc::HostedHandler> loaded;
    static std::mutex mutex;
    auto found = ipc::HostedHandler::try_load(assembly, type, method);
    if (!found) return nullptr;
    const std::lock_guard lock(mutex);
    *user = loaded.emplace_back(*std::move(found)).user();
    return ipc::HostedHandler::function();
}

// What .NET is given of this program.
struct Host {
    size_t size;
    decltype(&serve) serve_by_steps;
    decltype(&handler) find_handler;
    decltype(&ipc_hosting_last_error) last_error;
};
using Main = int32_t IPC_CALL(int32_t count, const char* const* arguments, const Host* host);

} // namespace

int main(int count, char** arguments) try {
    constexpr int before_arguments = 4;
    if (count < before_arguments) {
        std::fputs("usage: ipc-hosted ASSEMBLY TYPE METHOD [ARGUMENT...]\n", stderr);
        return 2;
    }
    assembly = arguments[1];
    const auto run = ipc::hosted_function<Main>(assembly, arguments[2], arguments[3]);
    const Host host{sizeof(Host), serve, handler, ipc_hosting_last_error};
    return run(count - before_arguments, arguments + before_arguments, &host);
} catch (const std::exception& e) {
    std::fprintf(stderr, "ipc-hosted: %s\n", e.what());
    return 1;
}
