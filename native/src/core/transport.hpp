#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"

namespace ipc {

// One room under src/transports/ defines one of these, named transport_<id with _ for ->, e.g. transport_shm_event;
// `extern const` (a plain const would stay inside its file); registry.json is what makes the library look for it.
struct Transport {
    Status (*listen)(const Address& address, FrameListener** listener);
    Status (*connect)(const Address& address, const Deadline& deadline, FrameChannel** channel);
};

} // namespace ipc
