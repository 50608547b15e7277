#pragma once

#include "core/address.hpp"
#include "core/broadcast.hpp"
#include "core/frame_channel.hpp"
#include "core/message_queue.hpp"

namespace ipc {

// One room under src/transports/ defines one of these, named transport_<id with _ for ->, e.g. transport_shm_event;
// `extern const` (a plain const would stay inside its file); registry.json is what makes the library look for it.
// Which members are set follows from the registry's kind; the others stay null.
struct Transport {
    // kinds "channel" and "call" (calls/: channels made of calls)
    Status (*listen)(const Address& address, FrameListener** listener) = nullptr;
    Status (*connect)(const Address& address, const Deadline& deadline, FrameChannel** channel) = nullptr;
    // kind "queue"
    Status (*open_queue)(const Address& address, const Deadline& deadline, MessageQueue** queue) = nullptr;
    Status (*remove_queue)(const Address& address) = nullptr;
    // kind "broadcast"
    Status (*publish)(const Address& address, BroadcastPublisher** publisher) = nullptr;
    Status (*subscribe)(const Address& address, const Deadline& deadline, BroadcastSubscriber** subscriber) = nullptr;
};

} // namespace ipc
