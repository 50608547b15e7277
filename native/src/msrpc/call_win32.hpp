#pragma once

#include "msrpc/handshake_win32.hpp"

#include <cstddef>
#include <cstdint>
#include <rpcndr.h>
#include <windows.h>

namespace ipc::msrpc {

// The NDR of idl/ipc.idl by hand, docs/wire-formats.md "MS-RPC". A client of ours calls this way and not through widl's stub,
// because a failure is then a status and not a structured exception, for which not every compiler has __try.
using Token = std::array<unsigned char, 16>;
using ContextHandle = std::array<unsigned char, 20>;

constexpr uint32_t procedure_open = 0;
constexpr uint32_t procedure_exchange = 1;
constexpr uint32_t procedure_close = 2;

// What comes before the bytes of an exchange: token, kind, id, length, and length once more as the array's.
constexpr size_t exchange_head = 32;
constexpr size_t exchange_length_at = 24;
constexpr size_t exchange_array_at = 28;

// One call: fill `request()`, send(), read `reply()`. The memory is rpcrt4's; one thread.
class Call {
  public:
    Call(RPC_BINDING_HANDLE binding, uint32_t procedure);
    ~Call() { reset(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Room for the request.
    RPC_STATUS begin(size_t length);
    unsigned char* request() const { return static_cast<unsigned char*>(message_.Buffer); }
    // Blocks until the reply is there. A status that is not RPC_S_OK ends the call.
    RPC_STATUS send();
    const unsigned char* reply() const { return static_cast<const unsigned char*>(message_.Buffer); }
    size_t reply_length() const { return message_.BufferLength; }
    // Whether the peer's numbers are ours: little-endian.
    bool plain() const { return (message_.DataRepresentation & 0xFFFF) == (NDR_LOCAL_DATA_REPRESENTATION & 0xFFFF); }
    void reset();

  private:
    RPC_MESSAGE message_{};
    bool holds_ = false; // memory that is to be given back
};

uint32_t read_u32(const unsigned char* from);
void write_u32(unsigned char* to, uint32_t value);

struct Opened {
    uint32_t status;
    Secret answer;
    Token token;
    ContextHandle context;
};
// Each gives what rpcrt4 says, or RPC_X_BAD_STUB_DATA for a reply that is not NDR's for this procedure.
RPC_STATUS call_open(RPC_BINDING_HANDLE binding, const Secret& proof, Opened* opened);
RPC_STATUS call_close(RPC_BINDING_HANDLE binding, const ContextHandle& context);

struct Exchanged {
    uint32_t status;
    uint32_t kind;
    const unsigned char* bytes; // in the call's memory
    uint32_t length;
};
void write_exchange_head(unsigned char* to, const Token& token, uint32_t kind, uint32_t id, uint32_t length);
RPC_STATUS read_exchanged(const Call& call, Exchanged* exchanged);

} // namespace ipc::msrpc
