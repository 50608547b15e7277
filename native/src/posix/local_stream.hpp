#pragma once

#include "core/transport.hpp"
#include "posix/names.hpp"

namespace ipc::posix {

// Frames over Unix sockets: what `pipe` and `unix` have in common, that is all but where the name stands.
Status listen_frames(const Address& address, const LocalName& name, FrameListener** listener);
Status connect_frames(const Address& address, const LocalName& name, const Deadline& deadline, FrameChannel** channel);

} // namespace ipc::posix
