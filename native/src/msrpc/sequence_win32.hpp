#pragma once

#include "core/status.hpp"

#include <rpc.h>
#include <windows.h>

namespace ipc::msrpc {

// The three protocol sequences, one transport each; the numbers stand in handshake sections.
enum class Sequence : uint32_t { alpc = 1, named_pipe = 2, tcp = 3 };

// As rpcrt4 calls it.
const wchar_t* protocol_sequence(Sequence sequence);

// What a status of rpcrt4 means for a client that calls a session of a server.
Status status_of(RPC_STATUS status);

// The largest message that any listener can allow (registry: largest_message), and what goes around it in a call.
constexpr uint32_t largest_message = 256u << 20;
constexpr uint32_t largest_call = largest_message + 4096;

} // namespace ipc::msrpc
