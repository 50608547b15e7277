#include "failure.hpp"

namespace ipc::peer {

std::string_view status_name(ipc_status status) {
    switch (status) {
    case IPC_OK:
        return "OK";
    case IPC_INVALID_ARGUMENT:
        return "INVALID_ARGUMENT";
    case IPC_BAD_ADDRESS:
        return "BAD_ADDRESS";
    case IPC_UNKNOWN_TRANSPORT:
        return "UNKNOWN_TRANSPORT";
    case IPC_BAD_OPTION:
        return "BAD_OPTION";
    case IPC_MESSAGE_TOO_LARGE:
        return "MESSAGE_TOO_LARGE";
    case IPC_BUFFER_TOO_SMALL:
        return "BUFFER_TOO_SMALL";
    case IPC_WRONG_STATE:
        return "WRONG_STATE";
    case IPC_NAME_IN_USE:
        return "NAME_IN_USE";
    case IPC_NO_SERVER:
        return "NO_SERVER";
    case IPC_NO_PERMISSION:
        return "NO_PERMISSION";
    case IPC_TIMED_OUT:
        return "TIMED_OUT";
    case IPC_PEER_CLOSED:
        return "PEER_CLOSED";
    case IPC_CLOSED:
        return "CLOSED";
    case IPC_TRUNCATED:
        return "TRUNCATED";
    case IPC_NOT_OUR_PROTOCOL:
        return "NOT_OUR_PROTOCOL";
    case IPC_PEER_TOO_LARGE:
        return "PEER_TOO_LARGE";
    case IPC_NOT_AVAILABLE:
        return "NOT_AVAILABLE";
    case IPC_HANDLER_FAILED:
        return "HANDLER_FAILED";
    case IPC_OUT_OF_MEMORY:
        return "OUT_OF_MEMORY";
    default:
        return "SYSTEM";
    }
}

void fail_wrong_content(const std::string& reason) {
    throw Failure("WRONG_CONTENT", reason);
}

void fail_bad_cell(const std::string& reason) {
    throw Failure("INVALID_ARGUMENT", reason);
}

void fail_wrong_sequence(std::string_view what, uint64_t found, uint64_t expected) {
    fail_wrong_content("the " + std::string(what) + " carries sequence " + std::to_string(found) + " where " +
                       std::to_string(expected) + " is due: the transport lost, repeated or reordered one");
}

} // namespace ipc::peer
