#include "msrpc/call_win32.hpp"

#include "ipc_rpc.h" // made from idl/ipc.idl

#include <algorithm>
#include <cstring>
#include <rpcdcep.h>

namespace ipc::msrpc {
namespace {

// The interface as idl/ipc.idl and the C706 specification name it: 7d9cc6a4-..., version 1.0, in NDR 2.0.
constexpr RPC_SYNTAX_IDENTIFIER interface_id = {
    {0x7d9cc6a4, 0x1f0e, 0x4b53, {0x9a, 0x3c, 0x5b, 0x8d, 0x0e, 0x6f, 0x2c, 0x41}}, {1, 0}};
constexpr RPC_SYNTAX_IDENTIFIER ndr_2 = {{0x8a885d04, 0x1ceb, 0x11c9, {0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60}},
                                         {2, 0}};

RPC_CLIENT_INTERFACE* client_interface() {
    static RPC_CLIENT_INTERFACE interface_description = [] {
        RPC_CLIENT_INTERFACE made{};
        made.Length = sizeof made;
        made.InterfaceId = interface_id;
        made.TransferSyntax = ndr_2;
        return made;
    }();
    return &interface_description;
}

} // namespace

uint32_t read_u32(const unsigned char* from) {
    uint32_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void write_u32(unsigned char* to, uint32_t value) {
    std::memcpy(to, &value, sizeof value);
}

Call::Call(RPC_BINDING_HANDLE binding, uint32_t procedure) {
    message_.Handle = binding;
    message_.DataRepresentation = NDR_LOCAL_DATA_REPRESENTATION;
    message_.ProcNum =
        procedure | RPC_FLAGS_VALID_BIT; // here and not in RpcFlags, where the same bit means asynchronous
    message_.RpcInterfaceInformation = client_interface();
}

RPC_STATUS Call::begin(size_t length) {
    message_.BufferLength = static_cast<unsigned>(length);
    const RPC_STATUS status = I_RpcGetBuffer(&message_);
    holds_ = status == RPC_S_OK;
    return status;
}

RPC_STATUS Call::send() {
    // A call that fails has given the memory back already.
    holds_ = false;
    const RPC_STATUS status = I_RpcSendReceive(&message_);
    holds_ = status == RPC_S_OK;
    return status;
}

void Call::reset() {
    if (holds_) I_RpcFreeBuffer(&message_);
    holds_ = false;
}

RPC_STATUS call_open(RPC_BINDING_HANDLE binding, const Secret& proof, Opened* opened) {
    Call call(binding, procedure_open);
    if (RPC_STATUS s = call.begin(proof.size())) return s;
    std::ranges::copy(proof, call.request());
    if (RPC_STATUS s = call.send()) return s;
    if (call.reply_length() < 72 || !call.plain()) return RPC_X_BAD_STUB_DATA;
    std::memcpy(opened->answer.data(), call.reply(), opened->answer.size());
    std::memcpy(opened->token.data(), call.reply() + 32, opened->token.size());
    std::memcpy(opened->context.data(), call.reply() + 48, opened->context.size());
    opened->status = read_u32(call.reply() + 68);
    return RPC_S_OK;
}

RPC_STATUS call_close(RPC_BINDING_HANDLE binding, const ContextHandle& context) {
    Call call(binding, procedure_close);
    if (RPC_STATUS s = call.begin(context.size())) return s;
    std::ranges::copy(context, call.request());
    return call.send();
}

void write_exchange_head(unsigned char* to, const Token& token, uint32_t kind, uint32_t id, uint32_t length) {
    std::ranges::copy(token, to);
    write_u32(to + 16, kind);
    write_u32(to + 20, id);
    write_u32(to + exchange_length_at, length);
    write_u32(to + exchange_array_at, length);
}

// reply_kind, reply_length, a reference that is 0 or leads to the array's length and bytes, and aligned to 4 the status.
RPC_STATUS read_exchanged(const Call& call, Exchanged* exchanged) {
    const unsigned char* reply = call.reply();
    const size_t length = call.reply_length();
    if (length < 16 || !call.plain()) return RPC_X_BAD_STUB_DATA;
    *exchanged = {0, read_u32(reply), reply, read_u32(reply + 4)};
    size_t status_at = 12;
    if (read_u32(reply + 8) == 0) {
        if (exchanged->length != 0) return RPC_X_BAD_STUB_DATA;
    } else {
        const uint64_t array = read_u32(reply + 12);
        const uint64_t end = (16 + array + 3) & ~uint64_t{3};
        if (array != exchanged->length || end + 4 > length) return RPC_X_BAD_STUB_DATA;
        exchanged->bytes = reply + 16;
        status_at = static_cast<size_t>(end);
    }
    exchanged->status = read_u32(reply + status_at);
    return RPC_S_OK;
}

} // namespace ipc::msrpc
