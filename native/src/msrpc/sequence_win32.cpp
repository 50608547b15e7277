#include "msrpc/sequence_win32.hpp"

namespace ipc::msrpc {

const wchar_t* protocol_sequence(Sequence sequence) {
    switch (sequence) {
    case Sequence::alpc:
        return L"ncalrpc";
    case Sequence::named_pipe:
        return L"ncacn_np";
    case Sequence::tcp:
        return L"ncacn_ip_tcp";
    }
    return L"";
}

Status status_of(RPC_STATUS status) {
    switch (status) {
    case RPC_S_OK:
        return IPC_OK;
    case RPC_S_SERVER_UNAVAILABLE:
    case RPC_S_CALL_FAILED:
    case RPC_S_CALL_FAILED_DNE:
    case RPC_S_COMM_FAILURE:
    case RPC_S_CALL_CANCELLED:
    case RPC_S_NOT_LISTENING:
    case RPC_X_SS_CONTEXT_MISMATCH: // the session is gone
        return IPC_PEER_CLOSED;
    case RPC_S_ACCESS_DENIED:
        return IPC_NO_PERMISSION;
    case RPC_S_OUT_OF_MEMORY:
    case RPC_S_OUT_OF_RESOURCES:
    case RPC_S_SERVER_OUT_OF_MEMORY:
        return IPC_OUT_OF_MEMORY;
    case RPC_S_UNKNOWN_IF:
    case RPC_S_PROCNUM_OUT_OF_RANGE:
    case RPC_S_UNSUPPORTED_TRANS_SYN:
    case RPC_S_PROTOCOL_ERROR:
    case RPC_X_BAD_STUB_DATA:
    case RPC_S_INVALID_BOUND:
        return IPC_NOT_OUR_PROTOCOL;
    default:
        return IPC_SYSTEM;
    }
}

} // namespace ipc::msrpc
