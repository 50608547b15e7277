#include "transports/shm/ring_reader.hpp"

#include <cstring>

namespace ipc::shm {

// A line that the reader has only read is slow to write for the writer a lap later; one that the reader has written is not. So the reader
// stores a word into each line that it gives back, which nobody reads: docs/experiments.md, "Whose a line is". Not after calls of a line or
// two, which gain nothing. What is stored in a slot is this lap's sequence, which is due at no later one.
void RingReader::own_slots() {
    owns_ = false;
    const uint64_t end = slot_position_; // a copy: the stores might be to it, for all that the compiler knows
    for (uint64_t position = own_from_; position != end; ++position)
        memory_.slot(position).sequence_and_length.store(sequence_of(position), std::memory_order_relaxed);
    own_from_ = end;
}

void RingReader::own_data(size_t length) {
    if (length > most_bytes_owned) return;
    std::byte* const begin = memory_.at(memory_.place(data_position_, length));
    for (size_t at = 0; at < length; at += shared_memory::line_bytes)
        reinterpret_cast<std::atomic<uint64_t>*>(begin + at)->store(0, std::memory_order_relaxed);
}

// Whether the writer can be told of this portion with a later one. It is far ahead then, all round the ring, and asks for the line with the
// positions again and again as soon as the ring is full. Each time that it gets that line our stores wait until it is back here: far apart
// half of all time went into this (docs/experiments.md, "One way"). But a slow reader tells of each portion, or its writer's time-outs would
// pass although there is room; so does everyone whose writer sleeps.
bool RingReader::may_keep_more() const {
    const uint64_t in_ring = slot_position_ & (memory_.slot_count - 1);
    return in_ring >= memory_.short_lap() && slot_position_ - given_slots_ < memory_.slot_count / 4 &&
           segment_.incoming().writer_parked.load(std::memory_order_relaxed) == 0;
}

void RingReader::end_portion() {
    if (!may_keep_more()) return give_back();
    const int64_t now_ms = shared_memory::coarse_now_ms();
    if (now_ms != given_ms_) {
        given_ms_ = now_ms;
        return give_back();
    }
    begin_portion();
}

void RingReader::begin_portion() {
    if (owns_) own_slots();
    portion_begin_ = slot_position_;
    own_from_ = slot_position_;
}

void RingReader::give_back() {
    begin_portion();
    shared_memory::RingControl& control = segment_.incoming();
    given_slots_ = slot_position_;
    given_data_ = data_position_;
    // Release: our use of the records is over before the writer sees them given back.
    control.data_read.store(data_position_, std::memory_order_release);
    control.slots_read.store(slot_position_, std::memory_order_release);
    segment_.wake_if_parked(control.writer_parked);
}

void RingReader::go_back() {
    if (owns_) own_slots();
    const uint64_t start = memory_.next_start(slot_position_);
    portion_begin_ += start - slot_position_; // a portion is of slots that were used
    slot_position_ = start;
    own_from_ = start;
    look_ahead();
    peer_went_back_ = true;
}

// The writer goes on at the ring's first slot. False at the first slot, so that a peer cannot lead us round for ever.
bool RingReader::pass_over_rest() {
    const uint64_t to_end = memory_.slots_to_end(slot_position_);
    if (to_end == memory_.slot_count) return false;
    // Before the position moves on: slots that are passed over need not be owned.
    if (owns_) own_slots();
    slot_position_ += to_end;
    look_ahead();
    give_back();
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
            owns_ = true;
            pass_slots(slots_for(length), 0);
            if (has_portion()) end_portion();
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
