#include "core/transport.hpp"
#include "shared_memory/handshake.hpp"
#include "transports/shm/shm_channel.hpp"

namespace ipc {
namespace {

// Enough for a stream whose reader is far behind; while it is not, a small part of them is used (RingMemory::short_lap).
constexpr uint32_t slots_per_ring = 4096;

const shared_memory::TransportTraits traits{
    shared_memory::Layout::slots,
    "shm-",
    [](const Address&) { return slots_per_ring; },
    [](const Address& address) { return uint64_t{address.option_size("size")}; },
    [](const Address& address) -> shared_memory::MemoryOptions {
        return {address.option("pages") == "huge" ? shared_memory::Pages::huge : shared_memory::Pages::normal,
                address.option("prefault") == "yes"};
    },
    [](std::unique_ptr<shared_memory::Segment> segment, size_t limit) -> FrameChannel* {
        return new shm::ShmChannel(std::move(segment), limit);
    }};

// The ring's arithmetic asks for whole pages and even halves; a power of two gives both.
Status check_size(const Address& address) {
    const uint64_t size = address.option_size("size");
    if (size >= 65536 && (size & (size - 1)) == 0 && size <= uint64_t{1} << 32) return IPC_OK;
    return fail(IPC_BAD_OPTION, "size=%s in '%s': the ring's size must be a power of two from 64k to 4G",
                address.option("size").c_str(), address.text().c_str());
}

} // namespace

extern const Transport transport_shm{[](const Address& address, FrameListener** listener) {
                                         if (Status s = check_size(address)) return s;
                                         return shared_memory::listen(traits, address, listener);
                                     },
                                     [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
                                         if (Status s = check_size(address)) return s;
                                         return shared_memory::connect(traits, address, deadline, channel);
                                     }};

} // namespace ipc
