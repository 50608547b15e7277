#pragma once

#include "msrpc/sequence_win32.hpp"

namespace ipc::msrpc {

// idl/ipc.idl as this library serves it: the stub's interface, with a look at what the stub does not check.
RPC_IF_HANDLE server_interface();

// Called by Windows before a client's first call; Wine never does.
RPC_STATUS RPC_ENTRY security_callback(RPC_IF_HANDLE interface_handle, void* context);

} // namespace ipc::msrpc
