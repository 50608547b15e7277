#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "shared_memory/segment.hpp"

#include <memory>

namespace ipc::shared_memory {

// What differs between the transports that meet over a socket and then talk through a mapping.
struct TransportTraits {
    Layout layout;
    const char* name_prefix; // of the socket in the private folder
    uint32_t (*slot_count)(const Address& address);
    uint64_t (*data_bytes)(const Address& address); // a multiple of 4096
    MemoryOptions (*memory_options)(const Address& address);
    FrameChannel* (*make_channel)(std::unique_ptr<Segment> segment, size_t limit);
};

// The two functions of such a transport. The system-dependent half is handshake_posix.cpp.
Status listen(const TransportTraits& traits, const Address& address, FrameListener** listener);
Status connect(const TransportTraits& traits, const Address& address, const Deadline& deadline, FrameChannel** channel);

} // namespace ipc::shared_memory
