#include "transports/shm/ring_memory.hpp"

namespace ipc::shm {

RingMemory ring_memory(const shared_memory::Segment& segment, unsigned ring) {
    const size_t slots_bytes = size_t{segment.slot_count()} * sizeof(Slot);
    std::byte* slots = segment.memory() + shared_memory::header_bytes;
    std::byte* data = slots + ((2 * slots_bytes + 4095) & ~size_t{4095});
    return {reinterpret_cast<Slot*>(slots + ring * slots_bytes), segment.slot_count(),
            data + ring * segment.data_bytes(), segment.data_bytes()};
}

} // namespace ipc::shm
