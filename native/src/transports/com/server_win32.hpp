#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"

namespace ipc::com {

// Registers an object in the running object table, which makes one for each client; docs/wire-formats.md "COM".
Status listen(const Address& address, FrameListener** listener);

} // namespace ipc::com
