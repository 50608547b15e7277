#include "transports/shm/ring.hpp"

#include <cstring>

namespace ipc::shm {

RingMemory ring_memory(const shared_memory::Segment& segment, unsigned ring) {
    const size_t slots_bytes = size_t{segment.slot_count()} * sizeof(Slot);
    std::byte* slots = segment.memory() + shared_memory::header_bytes;
    std::byte* data = slots + ((2 * slots_bytes + 4095) & ~size_t{4095});
    return {reinterpret_cast<Slot*>(slots + ring * slots_bytes), segment.slot_count(),
            data + ring * segment.data_bytes(), segment.data_bytes()};
}

// ---- the writer

bool RingWriter::refresh() {
    const shared_memory::RingControl& control = segment_.outgoing();
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
    if (segment_.ended())
        if (Status s = segment_.why_ended()) return s;
    look_ahead();
    if (has_room()) return IPC_OK;
    bool sound = true;
    Status s = segment_.wait(segment_.outgoing().writer_parked, spin_budget_, deadline, [&] {
        sound = refresh();
        return !sound || has_room();
    });
    if (s) return s;
    if (!sound) return fail(IPC_NOT_OUR_PROTOCOL, "the peer says it has read what was never written");
    return IPC_OK;
}

Status RingWriter::really_wait_for_slots(uint64_t count, const Deadline& deadline) {
    if (Status s = wait_for_room([&] { return fits(count); }, deadline)) return s;
    if (count > free_here_) cross_boundary(count);
    return IPC_OK;
}

Status RingWriter::really_wait_for_data(size_t length, const Deadline& deadline) {
    if (Status s = wait_for_room([&] { return fits(1) && has_data(length); }, deadline)) return s;
    if (free_here_ == 0) cross_boundary(1);
    return IPC_OK;
}

// A message of `count` slots, for which there is room, does not end before the boundary.
void RingWriter::cross_boundary(uint64_t count) {
    const uint64_t to_end = memory_.slots_to_end(slot_position_);
    const uint64_t end = slot_position_ + to_end;
    if (to_end == memory_.slot_count) { // the ring's end, exactly
        last_lap_was_long_ = true;
        boundary_ += memory_.short_lap();
    } else if (count > to_end) {
        skip_to_start(end);
        last_lap_was_long_ = true;
    } else if (end - boundary_ == memory_.slot_count - memory_.short_lap() && (refresh(), has_slots(to_end + count))) {
        // The reader has done with the first slots, which are in its cache and ours: back to them. It may look at the
        // boundary's slot, but at none behind.
        skip_to_start(boundary_ + 1);
        last_lap_was_long_ = false;
    } else {
        // Slots that short laps have left out hold sequences of long ago. Each loses its own before the reader can look at it:
        // sequences come again after 2^32 slots.
        const uint64_t next = boundary_ + memory_.short_lap();
        if (!last_lap_was_long_) invalidate(boundary_ + 1, std::min(next + 1, end));
        boundary_ = next;
    }
    look_ahead();
}

// Goes on at the ring's first slot. A message is never split at the ring's end: what is left there is passed over. No wake-up:
// the message follows.
void RingWriter::skip_to_start(uint64_t invalidated_end) {
    invalidate(slot_position_ + 1, invalidated_end);
    put_header(flag_skip, 0, 0);
    slot_position_ += memory_.slots_to_end(slot_position_);
    boundary_ = slot_position_ + memory_.short_lap();
}

// Gives slots that are ours the sequences of the last lap, which are never those of another.
void RingWriter::invalidate(uint64_t position, uint64_t end) {
    for (; position < end; ++position)
        memory_.slot(position).sequence_and_length.store(sequence_of(position - memory_.slot_count),
                                                         std::memory_order_relaxed);
}

size_t RingWriter::publish_many(uint32_t kind, const std::byte* messages, const uint32_t* lengths, size_t count,
                                size_t* wanted) {
    *wanted = 0;
    if (segment_.ended()) return 0;
    Slot* first = nullptr;
    uint64_t first_word = 0;
    size_t done = 0;
    while (done < count) {
        const size_t length = lengths[done];
        if (length > longest_in_slots_) break;
        size_t together = put_run(messages, lengths + done, count - done, wanted);
        if (*wanted != 0) break;
        uint32_t flags = flag_in_data | flag_run;
        uint64_t slots = 1;
        if (together == 0) {
            slots = slots_for(length);
            if (!make_way(slots)) break;
            copy_payload(slot_->payload(), messages, length);
            together = 1;
            flags = 0;
        }
        const size_t bytes = together * length;
        slot_->kind_and_id.store(Slot::word(kind | flags, 0), std::memory_order_relaxed);
        const uint64_t word = Slot::word(sequence_of(slot_position_), static_cast<uint32_t>(bytes));
        // The reader waits at the first record's sequence. That comes last, so that it does not come after each single
        // line while the next ones are being written: following closely is what makes messages sent one by one slow.
        if (first == nullptr) {
            first = slot_;
            first_word = word;
        } else {
            slot_->sequence_and_length.store(word, std::memory_order_release);
        }
        advance(slots);
        messages += bytes;
        done += together;
    }
    if (first != nullptr) {
        first->sequence_and_length.store(first_word, std::memory_order_release);
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }
    return done;
}

// Whether so many slots are free now and come before the boundary.
bool RingWriter::make_way(uint64_t count) {
    if (count <= free_here_) [[likely]]
        return true;
    if (!fits(count) && (!refresh() || !fits(count))) return false;
    if (count > free_here_) cross_boundary(count);
    return true;
}

// Puts messages of one length into the data area as one record, which the caller publishes: two 32-byte messages then share a
// line, and the lot is copied at once on both sides. Returns how many; 0: too few of one length, no slot, or so many bytes wanted
// in the data area.
size_t RingWriter::put_run(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* wanted) {
    const size_t length = lengths[0];
    if (length == 0 || length * RingMemory::fewest_of_run > RingMemory::most_bytes_of_run) return 0;
    const size_t most = std::min(count, RingMemory::most_bytes_of_run / length);
    size_t alike = 1;
    while (alike < most && lengths[alike] == length) ++alike;
    if (alike < RingMemory::fewest_of_run) return 0;
    const size_t bytes = alike * length;
    if (!make_way(1)) return 0;
    if (!has_data(bytes) && (!refresh() || !has_data(bytes))) {
        *wanted = bytes;
        return 0;
    }
    const auto each = static_cast<uint32_t>(length);
    std::memcpy(memory_.at(memory_.place(data_position_, bytes)), messages, bytes);
    std::memcpy(slot_->payload(), &each, sizeof each);
    data_position_ = memory_.end_of(data_position_, bytes);
    // The next run is likely as long as this one.
    if (has_data(bytes)) shared_memory::fetch_to_write(memory_.at(memory_.place(data_position_, bytes)), bytes);
    return alike;
}

// ---- the reader

// Where a message went on through a slot, its bytes stand where the sequence of a later message will be looked for and might be
// mistaken for it: every slot goes back with the sequence of this lap, which is never that of another.
void RingReader::invalidate() {
    spans_ = false;
    for (uint64_t position = invalidated_; position != slot_position_; ++position) {
        std::atomic<uint64_t>& word = memory_.slot(position).sequence_and_length;
        if (Slot::low(word.load(std::memory_order_relaxed)) != sequence_of(position))
            word.store(sequence_of(position), std::memory_order_relaxed);
    }
}

void RingReader::give_back() {
    if (spans_) invalidate();
    shared_memory::RingControl& control = segment_.incoming();
    given_slots_ = invalidated_ = slot_position_;
    given_data_ = data_position_;
    // Release: our use of the records is over before the writer sees them given back.
    control.data_read.store(data_position_, std::memory_order_release);
    control.slots_read.store(slot_position_, std::memory_order_release);
    segment_.wake_if_parked(control.writer_parked);
}

// The writer goes on at the ring's first slot; it has seen to the sequences of those it has left out. False at the first slot, so
// that a peer cannot lead us round for ever.
bool RingReader::pass_over_rest() {
    const uint64_t to_end = memory_.slots_to_end(slot_position_);
    if (to_end == memory_.slot_count) return false;
    if (spans_) invalidate();
    slot_position_ += to_end;
    invalidated_ = slot_position_;
    look_ahead();
    if (owes_slots()) give_back();
    return true;
}

Status RingReader::really_wait_for_record(const Deadline& deadline) {
    // The writer may be waiting for the room we still hold, and we are about to wait for it.
    if (given_slots_ != slot_position_) give_back();
    const std::atomic<uint64_t>& word = slot_->sequence_and_length;
    const uint32_t sequence = sequence_of(slot_position_);
    return segment_.wait(segment_.incoming().reader_parked, spin_budget_, deadline,
                         [&] { return Slot::low(word.load(std::memory_order_acquire)) == sequence; });
}

// A record that is no message in slots; a peer may have written anything.
Status RingReader::find_elsewhere(Record* record, const Deadline& deadline) {
    const uint32_t flags = record->kind_and_flags & ~kind_mask;
    if (flags == flag_skip) {
        if (pass_over_rest()) return wait_for_record(record, deadline);
    } else if (flags == (flag_in_data | flag_run)) {
        if (open_run(record->length)) {
            record->length = run_.each;
            record->bytes = memory_.at(memory_.place(data_position_, run_.bytes)) + run_.taken;
            return IPC_OK;
        }
    } else if ((flags & ~(flag_in_data | flag_more | flag_continues)) == 0 && (flags & flag_in_data) != 0 &&
               record->length <= memory_.largest_record()) {
        if (flags == (flag_in_data | flag_more)) std::memcpy(&record->total, slot_->payload(), sizeof record->total);
        record->bytes = memory_.at(memory_.place(data_position_, record->length));
        return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged record: %zu bytes, flags %x", record->length,
                flags >> 16);
}

// While this run is copied and used, the next one is on its way: most likely one of the same length, if there is one already.
// The look at its sequence delays nothing: the processor goes on as if it were right.
void RingReader::fetch_next_run() const {
    if (memory_.slots_to_end(slot_position_) == 1) return;
    if (Slot::low(slot_[1].sequence_and_length.load(std::memory_order_relaxed)) != sequence_of(slot_position_ + 1))
        return;
    const uint64_t next = memory_.end_of(data_position_, run_.bytes);
    const size_t bytes = std::min(run_.bytes, RingMemory::most_bytes_of_run);
    shared_memory::fetch_to_read(memory_.at(memory_.place(next, run_.bytes)), bytes);
}

// Takes over what the record at the read position says of itself, once, when it is begun. False: no writer of ours wrote it.
bool RingReader::open_run(size_t length) {
    if (run_.bytes != 0) return true;
    uint32_t each;
    std::memcpy(&each, slot_->payload(), sizeof each);
    if (length == 0 || each == 0 || length > memory_.largest_record() || length % each != 0) return false;
    run_ = {length, each, 0};
    fetch_next_run();
    return true;
}

void RingReader::consume_of_run(size_t messages) {
    run_.taken += messages * run_.each;
    if (run_.taken != run_.bytes) return;
    const size_t bytes = run_.bytes;
    run_.bytes = 0;
    consume_data(bytes);
}

// As many messages of the run at the read position as are asked for and fit.
size_t RingReader::take_of_run(std::byte* to, size_t capacity, uint32_t* lengths, size_t max_count) {
    const size_t each = run_.each;
    const size_t count = std::min({(run_.bytes - run_.taken) / each, capacity / each, max_count});
    if (count == 0) return 0; // perhaps without a buffer
    std::memcpy(to, memory_.at(memory_.place(data_position_, run_.bytes)) + run_.taken, count * each);
    std::fill_n(lengths, count, static_cast<uint32_t>(each));
    consume_of_run(count);
    return count;
}

size_t RingReader::take_many(uint32_t kind, std::byte* to, size_t capacity, uint32_t* lengths, size_t max_count) {
    size_t count = 0;
    while (count < max_count) {
        const uint64_t sequence_and_length = read_slot();
        if (Slot::low(sequence_and_length) != sequence_of(slot_position_)) break;
        const Slot& slot = *slot_;
        const size_t length = Slot::high(sequence_and_length);
        size_t taken = 1, bytes = length;
        // The id of a plain message is 0 and its flags are none; anything else is for the caller to look at in peace.
        const uint32_t kind_and_flags = Slot::low(slot.kind_and_id.load(std::memory_order_relaxed));
        if (kind_and_flags == kind) {
            if (length > capacity || length > longest_here_) break;
            copy_payload(to, slot.payload(), length);
            lengths[count] = static_cast<uint32_t>(length);
            consume_slots(slots_for(length));
        } else if (kind_and_flags == (kind | flag_in_data | flag_run) && open_run(length)) {
            const size_t each = run_.each;
            taken = take_of_run(to, capacity, lengths + count, max_count - count);
            if (taken == 0) break;
            bytes = taken * each;
        } else if (kind_and_flags == flag_skip && pass_over_rest()) {
            continue;
        } else {
            break;
        }
        count += taken;
        to += bytes;
        capacity -= bytes;
    }
    return count;
}

} // namespace ipc::shm
