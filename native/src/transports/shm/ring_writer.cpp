#include "transports/shm/ring_writer.hpp"

#include <cstring>

namespace ipc::shm {

bool RingWriter::refresh() {
    const shared_memory::RingControl& control = segment_.outgoing();
    uint64_t slots = control.slots_read.load(std::memory_order_acquire);
    uint64_t data = control.data_read.load(std::memory_order_acquire);
    if (slots - given_slots_ > slot_position_ - given_slots_ || data - data_read_ > data_position_ - data_read_)
        return false;
    given_slots_ = slots;
    note_read(slots); // a message in turn may have told of more
    data_read_ = data;
    look_ahead();
    return true;
}

template <class HasRoom>
Status RingWriter::wait_for_room(HasRoom has_room, const Deadline& deadline) {
    if (segment_.ended())
        if (Status s = segment_.why_ended()) return s;
    if (turn_came_.load(std::memory_order_acquire)) learn_of_turn();
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

void RingWriter::suspect_lent() {
    suspects_.add(slot_position_ + 1, lent_until_);
    lent_until_ = 0;
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

// Short laps keep the messages of a dialogue in the nearest caches. But after one the ring has no more room than that until the reader has
// come past its end. Who only sends gains nothing by them and may get far ahead of its reader at any time: it has all of the ring. So each
// short lap is earned, by `slots_for_a_lap` slots that this side has received meanwhile and told its peer of. The peer can write to that word, too:
// laps of another length are all that it gets by it.
bool RingWriter::short_lap_pays() {
    constexpr uint64_t slots_for_a_lap = 4, most = 8;
    const uint64_t received = segment_.incoming().slots_read.load(std::memory_order_relaxed);
    const uint64_t earned = (received - received_) / slots_for_a_lap;
    if (earned != 0) {
        received_ = received;
        short_laps_ = std::min(most, short_laps_ + earned);
    }
    if (short_laps_ == 0) return false;
    --short_laps_;
    return true;
}

// A message of `count` slots, for which there is room, does not end before the boundary.
void RingWriter::cross_boundary(uint64_t count) {
    const uint64_t to_end = memory_.slots_to_end(slot_position_);
    const uint64_t end = slot_position_ + to_end;
    const bool at_start = to_end == memory_.slot_count;
    if (!at_start && (count > to_end || (end - boundary_ == memory_.slot_count - memory_.short_lap() &&
                                         short_lap_pays() && (refresh(), has_slots(to_end + count)))))
        // The message does not go before the ring's end. Or the reader has done with the first slots, which are in its cache and
        // ours: back to them.
        skip_to_start();
    else
        boundary_ += memory_.short_lap();
    suspects_.come_to(slot_position_);
    look_ahead();
}

// Goes on at the ring's first slot. A message is never split at the ring's end: what is left there is passed over. No wake-up:
// the message follows.
void RingWriter::skip_to_start() {
    const uint64_t to_end = memory_.slots_to_end(slot_position_);
    put_header(flag_skip, 0, 0, to_end);
    come_to_start(slot_position_ + to_end);
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
            suspect_later_slots(slots);
            copy_payload(slot_->payload(), messages, length);
            together = 1;
            flags = 0;
        }
        const size_t bytes = together * length;
        invalidate(slot_position_ + slots);
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

} // namespace ipc::shm
