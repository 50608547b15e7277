#pragma once

#include "core/address.hpp"
#include "msrpc/sequence_win32.hpp"
#include "win32/handle.hpp"

#include <array>
#include <string>

namespace ipc::msrpc {

using Secret = std::array<unsigned char, 32>;

// What a server and its clients know of each other before the first call, docs/wire-formats.md "MS-RPC": a named section
// that only this user can open. Whoever shows `proof` has read it; whoever answers with `answer` has written or read it.
struct Handshake {
    Sequence sequence;
    Secret proof;
    Secret answer;
    std::wstring endpoint;
};

// The server's end: the name exists as long as this does, and no longer than its process.
class HandshakeSection {
  public:
    // IPC_NAME_IN_USE, IPC_NO_PERMISSION.
    static Status make(const Address& address, const Handshake& handshake, HandshakeSection* place);
    void leave() { section_.reset(); }

  private:
    win32::Handle section_;
};

// The client's end. IPC_NO_SERVER, IPC_NO_PERMISSION if it is not this user's, IPC_NOT_OUR_PROTOCOL.
Status find_handshake(const Address& address, Sequence sequence, Handshake* handshake);

// Random bytes that nobody can guess.
Status fill_randomly(void* bytes, size_t length);

} // namespace ipc::msrpc
