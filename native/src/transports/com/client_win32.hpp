#pragma once

#include "calls/call_client.hpp"
#include "core/address.hpp"

#include <memory>

namespace ipc::com {

// Finds the server's object in the running object table and gets one of its own from it; docs/wire-formats.md "COM".
Status connect(const Address& address, const Deadline& deadline, std::unique_ptr<CallClient>* client);

} // namespace ipc::com
