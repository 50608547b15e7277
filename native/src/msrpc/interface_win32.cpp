#include "msrpc/interface_win32.hpp"

#include "ipc_rpc.h" // made from idl/ipc.idl
#include "msrpc/runtime_win32.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>

using ipc::FrameKind;
using ipc::msrpc::Runtime;
using ipc::msrpc::Sequence;

namespace ipc::msrpc {
namespace {

// The stub believes `length` whatever the array's own length says, and the handler would read beyond the array.
void __RPC_STUB checked_exchange(RPC_MESSAGE* message) {
    const auto* bytes = static_cast<const unsigned char*>(message->Buffer);
    const bool ours = (message->DataRepresentation & 0xFFFF) == (NDR_LOCAL_DATA_REPRESENTATION & 0xFFFF);
    if (!ours || message->BufferLength < exchange_head ||
        read_u32(bytes + exchange_length_at) != read_u32(bytes + exchange_array_at) ||
        read_u32(bytes + exchange_length_at) > message->BufferLength - exchange_head)
        RpcRaiseException(RPC_X_BAD_STUB_DATA);
    NdrServerCall2(message);
}

// Whether a client may open a session. Over tcp, where the runtime knows no user, the proof alone must do.
bool may_open() {
    const Status status = check_caller(nullptr);
    return status == IPC_OK || (status == IPC_NOT_AVAILABLE && Runtime::instance().listens_on_tcp());
}

} // namespace

RPC_IF_HANDLE server_interface() {
    static RPC_DISPATCH_FUNCTION functions[] = {NdrServerCall2, checked_exchange, NdrServerCall2, nullptr};
    static RPC_DISPATCH_TABLE table = {3, functions, 0};
    static RPC_SERVER_INTERFACE copy = [] {
        RPC_SERVER_INTERFACE made = *static_cast<const RPC_SERVER_INTERFACE*>(ipc_rpc_v1_0_s_ifspec);
        made.DispatchTable = &table;
        return made;
    }();
    return &copy;
}

RPC_STATUS RPC_ENTRY security_callback(RPC_IF_HANDLE, void* context) {
    const Status status = check_caller(context);
    const bool welcome = status == IPC_OK || (status == IPC_NOT_AVAILABLE && Runtime::instance().listens_on_tcp());
    return welcome ? RPC_S_OK : RPC_S_ACCESS_DENIED;
}

} // namespace ipc::msrpc

// ---- what the stubs of idl/ipc.idl call

extern "C" {

void* __RPC_USER MIDL_user_allocate(size_t size) {
    return std::malloc(size);
}

void __RPC_USER MIDL_user_free(void* memory) {
    std::free(memory);
}

void __RPC_USER ipc_rpc_session_rundown(ipc_rpc_session session) {
    Runtime::instance().end(std::unique_ptr<Runtime::Client>(static_cast<Runtime::Client*>(session)));
}

unsigned long ipc_rpc_open(unsigned char* proof, unsigned char* answer, unsigned char* token,
                           ipc_rpc_session* session) {
    *session = nullptr;
    std::memset(answer, 0, sizeof(ipc::msrpc::Secret));
    std::memset(token, 0, sizeof(ipc::msrpc::Token));
    try {
        if (!ipc::msrpc::may_open()) return IPC_NO_PERMISSION;
        std::unique_ptr<Runtime::Client> client;
        const ipc::Status status = Runtime::instance().open(proof, answer, token, &client);
        *session = client.release();
        return static_cast<unsigned long>(status);
    } catch (const std::exception&) {
        return IPC_OUT_OF_MEMORY;
    }
}

unsigned long ipc_rpc_exchange(unsigned char* token, unsigned long kind, unsigned long id, unsigned long length,
                               unsigned char* bytes, unsigned long* reply_kind, unsigned long* reply_length,
                               unsigned char** reply) {
    // The stub sends the reply's memory and then frees it.
    struct Sink final : ipc::ReplySink {
        void put(FrameKind answer_kind, uint32_t, const void* answer, size_t answer_length) override {
            if (answer_length != 0) {
                memory = std::malloc(answer_length);
                if (memory == nullptr) return;
                std::memcpy(memory, answer, answer_length);
            }
            put_kind = answer_kind;
            put_length = answer_length;
        }
        void* memory = nullptr;
        FrameKind put_kind{};
        size_t put_length = 0;
    } sink;
    *reply = nullptr;
    *reply_length = 0;
    *reply_kind = 0;
    try {
        const std::shared_ptr<ipc::CallSession> session = Runtime::instance().find(token);
        if (session == nullptr) return IPC_PEER_CLOSED;
        const ipc::Status status = session->answer(static_cast<FrameKind>(kind), id, bytes, length, sink);
        if (status != IPC_OK) return static_cast<unsigned long>(status);
    } catch (const std::exception&) {
        std::free(sink.memory);
        return IPC_OUT_OF_MEMORY;
    }
    if (kind == static_cast<unsigned long>(FrameKind::request) && sink.put_kind == FrameKind{})
        return IPC_OUT_OF_MEMORY;
    *reply = static_cast<unsigned char*>(sink.memory);
    *reply_length = static_cast<unsigned long>(sink.put_length);
    *reply_kind = static_cast<unsigned long>(sink.put_kind);
    return IPC_OK;
}

unsigned long ipc_rpc_close(ipc_rpc_session* session) {
    std::unique_ptr<Runtime::Client> client(static_cast<Runtime::Client*>(*session));
    *session = nullptr;
    if (client != nullptr) Runtime::instance().end(std::move(client));
    return IPC_OK;
}

} // extern "C"
