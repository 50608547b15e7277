#pragma once

#include "calls/call_client.hpp"
#include "core/address.hpp"
#include "msrpc/sequence_win32.hpp"

namespace ipc::msrpc {

Status connect(const Address& address, Sequence sequence, const Deadline& deadline, FrameChannel** channel);

} // namespace ipc::msrpc
