// The part of the C ABI that tells about the library: versions, status texts, the registry.
#include "core/abi_guard.hpp"
#include "core/registry.hpp"
#include "core/status.hpp"
#include "ipc/ipc.h"

extern "C" {

uint32_t ipc_abi_version(void) {
    return (IPC_ABI_VERSION_MAJOR << 16) | IPC_ABI_VERSION_MINOR;
}

const char* ipc_status_text(ipc_status status) {
    switch (status) {
    case IPC_OK:
        return "ok";
    case IPC_INVALID_ARGUMENT:
        return "invalid argument";
    case IPC_BAD_ADDRESS:
        return "malformed address";
    case IPC_UNKNOWN_TRANSPORT:
        return "unknown transport";
    case IPC_BAD_OPTION:
        return "unknown option or bad value";
    case IPC_MESSAGE_TOO_LARGE:
        return "message over the channel's limit";
    case IPC_BUFFER_TOO_SMALL:
        return "buffer too small for the message";
    case IPC_WRONG_STATE:
        return "called in the wrong state";
    case IPC_TOO_MANY_CALLS:
        return "too many calls in flight";
    case IPC_NAME_IN_USE:
        return "name in use";
    case IPC_NO_SERVER:
        return "no server at the address";
    case IPC_NO_PERMISSION:
        return "no permission";
    case IPC_TIMED_OUT:
        return "timed out";
    case IPC_PEER_CLOSED:
        return "closed by the peer";
    case IPC_CLOSED:
        return "closed here";
    case IPC_TRUNCATED:
        return "the peer ended in the middle of a message";
    case IPC_NOT_OUR_PROTOCOL:
        return "the peer speaks something else";
    case IPC_PEER_TOO_LARGE:
        return "the peer's message is over this channel's limit";
    case IPC_NOT_AVAILABLE:
        return "not available on this system";
    case IPC_HANDLER_FAILED:
        return "the peer's handler failed";
    case IPC_OUT_OF_MEMORY:
        return "out of memory";
    case IPC_SYSTEM:
        return "the system refused";
    default:
        return "unknown status";
    }
}

int32_t ipc_status_is_callers_mistake(ipc_status status) {
    return ipc::is_callers_mistake(status);
}

const char* ipc_last_error(void) {
    return ipc::last_error();
}

int32_t ipc_transport_count(void) {
    return static_cast<int32_t>(ipc::transports().size());
}

const char* ipc_transport_id(int32_t index) {
    if (index < 0 || index >= ipc_transport_count()) return nullptr;
    return ipc::transports()[static_cast<size_t>(index)].id;
}

const char* ipc_transport_describe(const char* transport_id) {
    const ipc::TransportEntry* entry = nullptr;
    if (transport_id == nullptr) return nullptr;
    ipc::abi::quietly([&] { ipc::find_transport(transport_id, &entry); });
    return entry != nullptr ? entry->describe : nullptr;
}

} // extern "C"
