#include "core/transport.hpp"
#include "shared_memory/handshake.hpp"
#include "transports/shm_event/event_channel.hpp"

namespace ipc {
namespace {

const shared_memory::TransportTraits event_traits{
    shared_memory::Layout::event, "event-", [](const Address&) { return uint32_t{0}; },
    // A block holds the largest message; its pages cost memory only once they are written.
    [](const Address& address) { return (uint64_t{address.limit()} + 4095) & ~uint64_t{4095}; },
    [](const Address&) { return shared_memory::MemoryOptions{}; },
    [](std::unique_ptr<shared_memory::Segment> segment, size_t limit) -> FrameChannel* {
        return new shm_event::EventChannel(std::move(segment), limit);
    }};

} // namespace

extern const Transport transport_shm_event{
    [](const Address& address, FrameListener** listener) {
        return shared_memory::listen(event_traits, address, listener);
    },
    [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        return shared_memory::connect(event_traits, address, deadline, channel);
    }};

} // namespace ipc
