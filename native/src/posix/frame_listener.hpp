#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "posix/descriptor.hpp"
#include "posix/names.hpp"

#include <functional>

namespace ipc::posix {

// Makes a channel of a client's connection, which it then owns; its status says what becomes of a client it refuses (Admit).
using Welcome = std::function<Status(const Address& address, Descriptor connection, FrameChannel** channel)>;

// The listener of every transport whose processes meet over a Unix socket, whatever they talk through afterwards. Takes the
// name as LocalListener does.
Status listen_local(const Address& address, const LocalName& name, Welcome welcome, FrameListener** listener);

} // namespace ipc::posix
