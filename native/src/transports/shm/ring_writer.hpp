#pragma once

#include "shared_memory/fetching.hpp"
#include "shared_memory/segment.hpp"
#include "transports/shm/ring_memory.hpp"
#include "transports/shm/suspect_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::shm {

// The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read.
class RingWriter {
  public:
    RingWriter(shared_memory::Segment& segment, uint64_t first_position = 0)
        : segment_(segment), memory_(ring_memory(segment, segment.side())),
          longest_in_slots_(memory_.longest_in_slots()), slot_position_(first_position), slots_read_(first_position),
          boundary_((first_position | (memory_.short_lap() - 1)) + 1), turn_end_(first_position),
          given_slots_(first_position), suspects_(memory_.slot_count, first_position) {
        look_ahead();
    }

    const RingMemory& memory() const { return memory_; }
    size_t longest_in_slots() const { return longest_in_slots_; }

    // ---- messages in slots: length <= longest_in_slots()

    // Waits until the slots for so many bytes are free.
    IPC_IN_LINE Status wait_for_slots(size_t length, const Deadline& deadline) {
        const uint64_t count = slots_for(length);
        if (count > free_here_ || segment_.ended()) [[unlikely]]
            if (Status s = really_wait_for_slots(count, deadline)) return s;
        suspect_later_slots(count);
        return IPC_OK;
    }
    // The longest message in slots for which there is room without waiting, in slot_room(). Until used_of_ready() says how much was written
    // there, it may be all of it.
    size_t ready_bytes() {
        if (free_here_ == 0) return 0;
        const size_t bytes = std::min(longest_in_slots_, static_cast<size_t>(free_here_) * sizeof(Slot) -
                                                             (sizeof(Slot) - Slot::first_bytes));
        lent_until_ = slot_position_ + slots_for(bytes);
        return bytes;
    }
    // After wait_for_slots: the place of the message's bytes.
    std::byte* slot_room() const { return slot_->payload(); }
    // Makes the message visible whose bytes are in slot_room(). length <= what was waited for.
    IPC_IN_LINE void publish_in_slots(uint32_t kind, uint32_t id, size_t length) {
        const uint64_t count = slots_for(length);
        put_header(kind, id, length, count);
        advance(count);
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }
    // As publish_in_slots, with flag_in_turn: the caller has read the peer's last message with this flag.
    IPC_OUT_OF_LINE void publish_in_turn(uint32_t kind, uint32_t id, size_t length) {
        if (turn_came_.load(std::memory_order_acquire)) learn_of_turn();
        const uint64_t count = slots_for(length);
        if (count <= RingMemory::most_slots_in_turn) [[likely]] {
            put_in_turn(kind, id, length, count);
        } else {
            put_header(kind | flag_in_turn, id, length, count);
            advance(count);
        }
        turn_end_ = slot_position_;
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }
    // After ready_bytes(), before publishing: no more than this was written.
    void used_of_ready(size_t length) {
        lent_until_ = 0;
        suspect_later_slots(slots_for(length));
    }
    // The other ring brought a message in turn: its writer has read ours. May be called by the reading thread while another one writes.
    void turn_came() { turn_came_.store(true, std::memory_order_release); }
    // Copies in messages that lie back to back, as many as there is room for now, and makes them visible together. Returns
    // how many; stops at one that does not go into slots, and where a run lacks room in the data area: so many bytes are
    // wanted there then, else 0.
    size_t publish_many(uint32_t kind, const std::byte* messages, const uint32_t* lengths, size_t count,
                        size_t* wanted);

    // ---- records in the data area

    // Waits until a slot and `length` contiguous bytes are free.
    Status wait_for_data(size_t length, const Deadline& deadline) {
        if (free_here_ != 0 && has_data(length) && !segment_.ended()) [[likely]]
            return IPC_OK;
        return really_wait_for_data(length, deadline);
    }
    std::byte* data_room(size_t length) const { return memory_.at(memory_.place(data_position_, length)); }
    // The first record of several tells the whole message's length.
    void put_total(uint64_t total) { std::memcpy(slot_room(), &total, sizeof total); }
    void publish_in_data(uint32_t kind_and_flags, uint32_t id, size_t length) {
        data_position_ = memory_.end_of(data_position_, length);
        put_header(kind_and_flags | flag_in_data, id, length, 1);
        advance(1);
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }

  private:
    // `count`: slots from this record to the next.
    IPC_IN_LINE void put_header(uint32_t kind_and_flags, uint32_t id, size_t length, uint64_t count) {
        invalidate(slot_position_ + count);
        store_header(kind_and_flags, id, length);
    }
    IPC_IN_LINE void store_header(uint32_t kind_and_flags, uint32_t id, size_t length) {
        slot_->kind_and_id.store(Slot::word(kind_and_flags, id), std::memory_order_relaxed);
        // Release: whoever sees the sequence sees everything of the record written before it.
        slot_->sequence_and_length.store(Slot::word(sequence_of(slot_position_), static_cast<uint32_t>(length)),
                                         std::memory_order_release);
    }
    // The reader looks at the slot behind the last record, and at no other. There the sequence that is due must not stand already: a message
    // that went on through that slot, a lap ago, may have left it, or a record 2^32 slots ago. Relaxed: the reader comes there after the
    // record before it, which is released later.
    IPC_IN_LINE void invalidate(uint64_t position) {
        if (lent_until_ != 0) [[unlikely]]
            suspect_lent();
        std::atomic<uint64_t>& word = memory_.slot(position).sequence_and_length;
        if (Slot::low(word.load(std::memory_order_relaxed)) == sequence_of(position)) [[unlikely]]
            word.store(Slot::word(sequence_of(position - 1), 0), std::memory_order_relaxed);
    }
    // The same without a look at a slot that is not suspect.
    void invalidate_if_suspect(uint64_t position) {
        if (suspects_.has(position) || lent_until_ != 0) [[unlikely]] {
            suspects_.remove(position); // the next record begins there
            invalidate(position);
        }
    }
    void suspect_lent();
    // Bytes of the next message may be written into so many slots.
    IPC_IN_LINE void suspect_later_slots(uint64_t count) {
        if (count > 1) suspects_.add(slot_position_ + 1, slot_position_ + count);
    }
    Status really_wait_for_slots(uint64_t count, const Deadline& deadline);
    Status really_wait_for_data(size_t length, const Deadline& deadline);
    template <class HasRoom>
    Status wait_for_room(HasRoom has_room, const Deadline& deadline);
    bool has_slots(uint64_t count) const { return slot_position_ + count - slots_read_ <= memory_.slot_count; }
    // What the next message needs to know is worked out here, after one has been published and before the next one comes.
    IPC_IN_LINE void move_on(uint64_t count) {
        slot_position_ += count;
        slot_ = &memory_.slot(slot_position_);
        free_here_ -= count;
    }
    void advance(uint64_t count) {
        move_on(count);
        if (free_here_ > RingMemory::slots_fetched_ahead) [[likely]] {
            auto* const ahead = reinterpret_cast<std::byte*>(slot_ + RingMemory::slots_fetched_ahead);
            shared_memory::fetch_line_to_write(ahead);
            // The next messages are most likely as long: without their second line a call of 49 to 63 bytes takes 15 ns more.
            if (count > 1) shared_memory::fetch_line_to_write(ahead + sizeof(Slot));
        }
    }
    // The reader waits where the next message will begin or soon will, so that line is at the reader: nothing is loaded from it, nor asked for
    // ahead, which would only make it cross twice more (docs/experiments.md, "What a call waits for").
    void put_in_turn(uint32_t kind, uint32_t id, size_t length, uint64_t count) {
        const uint64_t next = slot_position_ + count;
        // Everything before has been read, so the first slots are free by the time that the answer has come.
        if (slots_read_ == slot_position_ && memory_.slot_in_ring(next - 1) + 1 >= RingMemory::slots_of_turns) {
            const uint64_t start = memory_.next_start(next);
            invalidate_if_suspect(start);
            store_header(kind | turn_flags, id, length);
            come_to_start(start);
            look_ahead();
        } else {
            invalidate_if_suspect(next);
            store_header(kind | flag_in_turn, id, length);
            move_on(count);
        }
    }
    void come_to_start(uint64_t start) {
        slot_position_ = start;
        boundary_ = start + memory_.short_lap();
        suspects_.come_to(start);
    }
    void learn_of_turn() {
        turn_came_.store(false, std::memory_order_relaxed);
        note_read(turn_end_);
        look_ahead();
    }
    // Never back, never beyond what is written.
    void note_read(uint64_t position) {
        if (position - slots_read_ <= slot_position_ - slots_read_) slots_read_ = position;
    }
    void look_ahead() {
        slot_ = &memory_.slot(slot_position_);
        free_here_ = std::min(memory_.slot_count - (slot_position_ - slots_read_), boundary_ - slot_position_);
    }
    // Whether so many slots are free, with those to skip when the ring's end is too near.
    bool fits(uint64_t count) const {
        const uint64_t to_end = memory_.slots_to_end(slot_position_);
        return has_slots(count <= to_end ? count : to_end + count);
    }
    void cross_boundary(uint64_t count);
    bool short_lap_pays();
    bool make_way(uint64_t count);
    size_t put_run(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* wanted);
    void skip_to_start();
    bool has_data(size_t length) const {
        return memory_.end_of(data_position_, length) - data_read_ <= memory_.data_bytes;
    }
    // Takes the reader's positions over, which it may have written nonsense to. False: nonsense.
    bool refresh();

    shared_memory::Segment& segment_;
    RingMemory memory_;
    size_t longest_in_slots_;
    uint64_t slot_position_;
    uint64_t data_position_ = 0;
    uint64_t slots_read_;     // as far as is known
    Slot* slot_ = nullptr;    // the next one
    uint64_t free_here_ = 0;  // slots from there that are free for certain and come before the boundary
    uint64_t boundary_;       // where the writer next decides how to go on: every short_lap() slots
    uint64_t received_ = 0;   // slots of the other ring that this side had given back when it last earned short laps
    uint64_t short_laps_ = 0; // that it has earned and not made
    uint64_t lent_until_ = 0; // up to here somebody else may have written into the next slots; 0: nobody
    uint64_t turn_end_;       // behind the last message in turn
    std::atomic<bool> turn_came_{false};
    uint64_t given_slots_; // slots_read as last seen in the ring
    SuspectSlots suspects_;
    shared_memory::SpinBudget spin_budget_;
    uint64_t data_read_ = 0;
};

} // namespace ipc::shm
