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

// ---- the writer

bool RingWriter::refresh() {
    const shared_memory::RingControl& control = link_.outgoing();
    uint64_t slots = control.slots_read.load(std::memory_order_acquire);
    uint64_t data = control.data_read.load(std::memory_order_acquire);
    if (slots - slots_read_ > slot_position_ - slots_read_ || data - data_read_ > data_position_ - data_read_)
        return false;
    slots_read_ = slots;
    data_read_ = data;
    look_ahead();
    return true;
}

template <class HasRoom>
Status RingWriter::wait_for_room(HasRoom has_room, const Deadline& deadline) {
    if (link_.ended())
        if (Status s = link_.why_ended()) return s;
    look_ahead(); // the ring's end may have been passed since
    if (has_room()) return IPC_OK;
    bool sound = true;
    Status s = link_.wait(link_.outgoing().writer_parked, spin_budget_, deadline, [&] {
        sound = refresh();
        return !sound || has_room();
    });
    if (s) return s;
    if (!sound) return fail(IPC_NOT_OUR_PROTOCOL, "the peer says it has read what was never written");
    return IPC_OK;
}

Status RingWriter::really_wait_for_slots(uint64_t count, const Deadline& deadline) {
    if (Status s = wait_for_room([&] { return fits(count); }, deadline)) return s;
    if (count > memory_.slots_to_end(slot_position_)) skip_to_start();
    return IPC_OK;
}

Status RingWriter::really_wait_for_data(size_t length, const Deadline& deadline) {
    return wait_for_room([&] { return has_room_for_data(length); }, deadline);
}

// A message is never split at the ring's end: what is left there is passed over. No wake-up: the message follows.
void RingWriter::skip_to_start() {
    put_header(flag_skip, 0, 0);
    slot_position_ += memory_.slots_to_end(slot_position_);
    look_ahead();
}

size_t RingWriter::publish_many(uint32_t kind, const std::byte* messages, const uint32_t* lengths, size_t count) {
    if (link_.ended()) return 0;
    Slot* first = nullptr;
    uint64_t first_word = 0;
    size_t done = 0;
    for (; done < count; ++done) {
        const size_t length = lengths[done];
        if (length > longest_in_slots_) break;
        const uint64_t needed = slots_for(length);
        if (needed > free_here_) [[unlikely]] {
            look_ahead();
            if (!fits(needed) && (!refresh() || !fits(needed))) break;
            if (needed > memory_.slots_to_end(slot_position_)) skip_to_start();
        }
        Slot& slot = *slot_;
        copy_payload(slot.payload(), messages, length);
        slot.kind_and_id.store(Slot::word(kind, 0), std::memory_order_relaxed);
        const uint64_t word = Slot::word(stamp_of(slot_position_), static_cast<uint32_t>(length));
        // The reader waits at the first message's stamp. That comes last, so that it does not come after each single
        // line while the next ones are being written: following closely is what makes messages sent one by one slow.
        if (first == nullptr) {
            first = &slot;
            first_word = word;
        } else {
            slot.stamp_and_length.store(word, std::memory_order_release);
        }
        advance(needed);
        messages += length;
    }
    if (first != nullptr) {
        first->stamp_and_length.store(first_word, std::memory_order_release);
        link_.wake_if_parked(link_.outgoing().reader_parked);
    }
    return done;
}

// ---- the reader

void RingReader::give_back() {
    // Where a message went on through a slot, its bytes stand where the stamp of a later message will be looked for and
    // might be mistaken for it: every slot goes back with the stamp of this lap, which is never that of another.
    if (spans_) {
        spans_ = false;
        for (uint64_t position = given_slots_; position != slot_position_; ++position) {
            std::atomic<uint64_t>& word = memory_.slot(position).stamp_and_length;
            if (Slot::low(word.load(std::memory_order_relaxed)) != stamp_of(position))
                word.store(stamp_of(position), std::memory_order_relaxed);
        }
    }
    shared_memory::RingControl& control = link_.incoming();
    given_slots_ = slot_position_;
    given_data_ = data_position_;
    // Release: our use of the records is over before the writer sees them given back.
    control.data_read.store(data_position_, std::memory_order_release);
    control.slots_read.store(slot_position_, std::memory_order_release);
    link_.wake_if_parked(control.writer_parked);
}

Status RingReader::really_wait_for_record(const Deadline& deadline) {
    // The writer may be waiting for the room we still hold, and we are about to wait for it.
    if (given_slots_ != slot_position_) give_back();
    const std::atomic<uint64_t>& word = slot_->stamp_and_length;
    const uint32_t stamp = stamp_of(slot_position_);
    return link_.wait(link_.incoming().reader_parked, spin_budget_, deadline,
                      [&] { return Slot::low(word.load(std::memory_order_acquire)) == stamp; });
}

// A record that is no message in slots; a peer may have written anything.
Status RingReader::find_elsewhere(Record* record, const Deadline& deadline) {
    const uint32_t flags = record->kind_and_flags & ~kind_mask;
    if (flags == flag_skip) {
        // Only at a place other than the first, so that a peer cannot lead us round for ever.
        const uint64_t to_end = memory_.slots_to_end(slot_position_);
        if (to_end < memory_.slot_count) {
            consume_slots(to_end);
            return wait_for_record(record, deadline);
        }
    } else if ((flags & ~(flag_in_data | flag_more | flag_continues)) == 0 && (flags & flag_in_data) != 0 &&
               record->length <= memory_.largest_record()) {
        if (flags == (flag_in_data | flag_more))
            std::memcpy(&record->total, slot_->payload(), sizeof record->total);
        record->bytes = memory_.at(memory_.place(data_position_, record->length));
        return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged record: %zu bytes, flags %x", record->length,
                flags >> 16);
}

size_t RingReader::take_many(uint32_t kind, std::byte* to, size_t capacity, uint32_t* lengths, size_t max_count) {
    size_t count = 0;
    for (; count < max_count; ++count) {
        const uint64_t stamp_and_length = look();
        const size_t length = Slot::high(stamp_and_length);
        if (Slot::low(stamp_and_length) != stamp_of(slot_position_) || length > capacity) break;
        const Slot& slot = *slot_;
        // The id of a plain message is 0 and its flags are none; anything else is for the caller to look at in peace.
        if (Slot::low(slot.kind_and_id.load(std::memory_order_relaxed)) != kind) break;
        if (length > longest_here_) break;
        copy_payload(to, slot.payload(), length);
        lengths[count] = static_cast<uint32_t>(length);
        to += length;
        capacity -= length;
        consume_slots(slots_for(length));
    }
    return count;
}

} // namespace ipc::shm
