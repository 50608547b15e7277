#include "transports/shm/ring.hpp"

#include <cstring>

namespace ipc::shm {

RingMemory ring_memory(const shared_memory::Link& link, unsigned ring) {
    const size_t slots_bytes = size_t{link.slot_count()} * sizeof(Slot);
    std::byte* slots = link.memory() + shared_memory::header_bytes;
    std::byte* data = slots + ((2 * slots_bytes + 4095) & ~size_t{4095});
    return {reinterpret_cast<Slot*>(slots + ring * slots_bytes), link.slot_count(), data + ring * link.data_bytes(),
            link.data_bytes()};
}

bool RingWriter::refresh() {
    const shared_memory::RingControl& control = link_.outgoing();
    uint64_t slots = control.slots_read.load(std::memory_order_acquire);
    uint64_t data = control.data_read.load(std::memory_order_acquire);
    if (slots - slots_read_ > slot_position_ - slots_read_ || data - data_read_ > data_position_ - data_read_)
        return false;
    slots_read_ = slots;
    data_read_ = data;
    return true;
}

Status RingWriter::really_wait_for_room(size_t data_length, const Deadline& deadline) {
    if (link_.ended())
        if (Status s = link_.why_ended()) return s;
    bool sound = true;
    Status s = link_.wait(link_.outgoing().writer_parked, deadline, [&] {
        sound = refresh();
        return !sound || has_room(data_length);
    });
    if (s) return s;
    if (!sound) return fail(IPC_NOT_OUR_PROTOCOL, "the peer says it has read what was never written");
    return IPC_OK;
}

Status RingReader::really_wait_for_record(const Deadline& deadline) {
    // The writer may be waiting for the room we still hold, and we are about to wait for it.
    if (published_slots_ != slot_position_) give_back();
    return link_.wait(link_.incoming().reader_parked, deadline, [this] { return has_record(); });
}

Status RingReader::find_data(Record* record, const Slot& slot) const {
    const uint32_t flags = record->kind_and_flags & ~uint32_t{0xFFFF};
    if (record->length > memory_.largest_record() || (flags & ~(flag_more | flag_continues)) != 0)
        return fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged record: %zu bytes, flags %x", record->length,
                    flags >> 16);
    record->bytes = memory_.at(memory_.place(data_position_, record->length));
    if (flags == flag_more) std::memcpy(&record->total, slot.payload, sizeof record->total);
    return IPC_OK;
}

} // namespace ipc::shm
