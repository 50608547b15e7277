#include "ipc/hosting.h"

#include "runtime.hpp"

#include <atomic>
#include <new>

namespace {

using ipc::hosting::NotAvailable;
using ipc::hosting::Runtime;

thread_local std::string last_failure;

// In package Ipc, managed/Ipc/Core/HostedHandler.Net.cs.
constexpr const char* entry_type = "Ipc.HostedHandler, Ipc";
using Bind = ipc_status(IPC_CALL*)(const char* assembly, const char* type, const char* method,
                                   ipc_hosted_answer* answer, void** handler, char* message, int32_t capacity);
using Free = void(IPC_CALL*)(void* handler);

// Any runtime copy of Ipc frees the handlers of all.
std::atomic<Free> free_handler = nullptr;

ipc_status fail(ipc_status status, const char* text) noexcept {
    try {
        last_failure = text;
    } catch (...) {
        last_failure.clear();
    }
    return status;
}

// No exception crosses the ABI.
template <class Work>
ipc_status guarded(Work&& work) noexcept {
    last_failure.clear();
    try {
        return work();
    } catch (const NotAvailable& e) {
        return fail(IPC_NOT_AVAILABLE, e.what());
    } catch (const std::bad_alloc&) {
        return fail(IPC_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& e) {
        return fail(IPC_SYSTEM, e.what());
    }
}

ipc_status bind(const char* assembly, const char* type, const char* method, ipc_hosted_answer* answer, void** handler) {
    const std::filesystem::path path = ipc::hosting::host_text(assembly);
    void* function = nullptr;
    if (!Runtime::instance().find(path, entry_type, "Bind", &function))
        throw NotAvailable(
            "the assembly '" + std::string(assembly) +
            "' has no Ipc.dll in its folder, of which handlers are made: let its project refer to package Ipc");
    const auto bind = reinterpret_cast<Bind>(function);
    if (!Runtime::instance().find(path, entry_type, "Free", &function))
        throw NotAvailable("the Ipc.dll beside '" + std::string(assembly) +
                           "' is of another version than this library: install both from one release");
    free_handler = reinterpret_cast<Free>(function);
    char message[2000] = "";
    const std::string full = ipc::hosting::utf8_text(std::filesystem::absolute(path).lexically_normal().c_str());
    const ipc_status status = bind(full.c_str(), type, method, answer, handler, message, sizeof message);
    return status == IPC_OK ? status : fail(status, message);
}

} // namespace

ipc_status IPC_CALL ipc_hosting_function(const char* assembly, const char* type, const char* method, void** function) {
    return guarded([&] {
        if (assembly == nullptr || type == nullptr || method == nullptr || function == nullptr)
            return fail(IPC_INVALID_ARGUMENT, "ipc_hosting_function: no argument may be null");
        *function = Runtime::instance().function(ipc::hosting::host_text(assembly), type, method);
        return static_cast<ipc_status>(IPC_OK);
    });
}

ipc_status IPC_CALL ipc_hosting_handler(const char* assembly, const char* type, const char* method,
                                        ipc_hosted_answer* answer, void** handler) {
    return guarded([&] {
        if (assembly == nullptr || type == nullptr || method == nullptr || answer == nullptr || handler == nullptr)
            return fail(IPC_INVALID_ARGUMENT, "ipc_hosting_handler: no argument may be null");
        return bind(assembly, type, method, answer, handler);
    });
}

void IPC_CALL ipc_hosting_free(void* handler) {
    if (handler != nullptr) free_handler.load()(handler);
}

const char* IPC_CALL ipc_hosting_last_error(void) {
    return last_failure.c_str();
}
