#pragma once

#include "shared_memory/fetching.hpp"
#include "shared_memory/segment.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::shm {

// One slot, docs/wire-formats.md. A message begins in a slot, behind the slot's header, and goes on through the slots that
// follow: its bytes are contiguous, and up to 48 of them share the header's cache line, so that a short message crosses
// between cores as one line and a longer one as neighbouring lines, which are fetched together. The first word is written
// last: a slot whose sequence is right begins a whole message.
struct Slot {
    static constexpr size_t first_bytes = 48; // of payload in the slot that has the header

    alignas(64) std::atomic<uint64_t> sequence_and_length; // sequence in the low half
    std::atomic<uint64_t> kind_and_id;                     // kind and flags in the low half
    std::byte rest[first_bytes];

    // Not `rest` itself: the message may go on behind it.
    std::byte* payload() { return reinterpret_cast<std::byte*>(this) + sizeof(Slot) - first_bytes; }
    const std::byte* payload() const { return reinterpret_cast<const std::byte*>(this) + sizeof(Slot) - first_bytes; }

    static uint64_t word(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
    static uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
    static uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
};
static_assert(sizeof(Slot) == 64 && std::endian::native == std::endian::little); // the two words are four 32-bit fields

// Copies at most 64 bytes: a few overlapping moves instead of a call, which costs as much as all else that sending a short
// message does.
inline void copy_short(std::byte* to, const std::byte* from, size_t length) {
    struct Block {
        std::byte bytes[16];
    };
    auto move = [&]<class Piece>(size_t at, Piece piece) {
        std::memcpy(&piece, from + at, sizeof piece);
        std::memcpy(to + at, &piece, sizeof piece);
    };
    if (length >= 16) {
        Block last;
        std::memcpy(&last, from + length - 16, 16);
        move(0, Block{});
        if (length > 32) {
            move(16, Block{});
            if (length > 48) move(32, Block{});
        }
        std::memcpy(to + length - 16, &last, 16);
    } else if (length >= 8) {
        uint64_t last;
        std::memcpy(&last, from + length - 8, 8);
        move(0, uint64_t{});
        std::memcpy(to + length - 8, &last, 8);
    } else if (length >= 4) {
        uint32_t last;
        std::memcpy(&last, from + length - 4, 4);
        move(0, uint32_t{});
        std::memcpy(to + length - 4, &last, 4);
    } else if (length != 0) {
        const std::byte middle = from[length / 2], last = from[length - 1];
        to[0] = from[0];
        to[length / 2] = middle;
        to[length - 1] = last;
    }
}
inline void copy_payload(std::byte* to, const std::byte* from, size_t length) {
    if (length <= 64)
        copy_short(to, from, length);
    else
        std::memcpy(to, from, length);
}

inline constexpr uint32_t kind_mask = 0xFFFF;
inline constexpr uint32_t flag_more = 1u << 16;
inline constexpr uint32_t flag_continues = 2u << 16;
inline constexpr uint32_t flag_in_data = 4u << 16; // the bytes lie in the data area
inline constexpr uint32_t flag_skip = 8u << 16;    // no message: go on at the ring's first slot
inline constexpr uint32_t flag_run = 16u << 16;    // messages of one length back to back in the data area

inline uint32_t sequence_of(uint64_t position) {
    return static_cast<uint32_t>(position + 1);
}

// How many slots a message in slots takes.
inline uint64_t slots_for(size_t length) {
    return (uint64_t{length} + (sizeof(Slot) - Slot::first_bytes) + sizeof(Slot) - 1) / sizeof(Slot);
}

// The memory of one ring as its reader or its writer sees it. All members are private to the process.
struct RingMemory {
    // Longer messages go through the data area: a message in slots costs its reader a store per line when it gives the room
    // back, one in the data area costs a line of its own. Measured, docs/performance.md.
    static constexpr size_t most_bytes_in_slots = Slot::first_bytes + 31 * sizeof(Slot);

    // The writer goes round in so many slots, few enough to stay in the first-level caches of both sides, as long as the reader
    // keeps up with that; when it does not, through all of the ring.
    static constexpr uint64_t most_slots_of_short_lap = 256;

    // The writer asks for the line so many slots ahead of the next message, if the reader has done with it. Measured,
    // docs/performance.md.
    static constexpr uint64_t slots_fetched_ahead = 16;

    // Of one run. Fewer than `fewest_of_run` go into slots of their own, where each is one line.
    static constexpr size_t most_bytes_of_run = 4096;
    static constexpr size_t fewest_of_run = 4;

    Slot* slots;
    uint64_t slot_count; // a power of two
    std::byte* data;
    uint64_t data_bytes; // a power of two

    Slot& slot(uint64_t position) const { return slots[position & (slot_count - 1)]; }
    uint64_t short_lap() const { return std::min(slot_count, most_slots_of_short_lap); }
    // Slots from this position to the ring's end.
    uint64_t slots_to_end(uint64_t position) const { return slot_count - (position & (slot_count - 1)); }
    size_t longest_in_slots() const {
        const size_t half = static_cast<size_t>(slot_count / 2) * sizeof(Slot);
        return half < sizeof(Slot) + most_bytes_in_slots ? half - (sizeof(Slot) - Slot::first_bytes)
                                                         : most_bytes_in_slots;
    }

    // Where a record of `length` bytes lies when everything up to `position` is taken: contiguous, never split at the end.
    uint64_t place(uint64_t position, size_t length) const {
        uint64_t offset = position & (data_bytes - 1);
        return offset + footprint(length) > data_bytes ? position + (data_bytes - offset) : position;
    }
    // Where the next record may begin.
    uint64_t end_of(uint64_t position, size_t length) const { return place(position, length) + footprint(length); }
    static uint64_t footprint(size_t length) { return (uint64_t{length} + 63) & ~uint64_t{63}; }
    std::byte* at(uint64_t position) const { return data + (position & (data_bytes - 1)); }
    size_t largest_record() const { return static_cast<size_t>(data_bytes / 2); }
};

RingMemory ring_memory(const shared_memory::Segment& segment, unsigned ring);

// The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read.
class RingWriter {
  public:
    RingWriter(shared_memory::Segment& segment, uint64_t first_position = 0)
        : segment_(segment), memory_(ring_memory(segment, segment.side())),
          longest_in_slots_(memory_.longest_in_slots()), slot_position_(first_position), slots_read_(first_position),
          boundary_((first_position | (memory_.short_lap() - 1)) + 1) {
        look_ahead();
    }

    const RingMemory& memory() const { return memory_; }
    size_t longest_in_slots() const { return longest_in_slots_; }

    // ---- messages in slots: length <= longest_in_slots()

    // Waits until the slots for so many bytes are free.
    Status wait_for_slots(size_t length, const Deadline& deadline) {
        const uint64_t count = slots_for(length);
        if (count <= free_here_ && !segment_.ended()) [[likely]]
            return IPC_OK;
        return really_wait_for_slots(count, deadline);
    }
    // The longest message in slots for which there is room without waiting, in slot_room().
    size_t ready_bytes() const {
        return free_here_ == 0 ? 0
                               : std::min(longest_in_slots_, static_cast<size_t>(free_here_) * sizeof(Slot) -
                                                                 (sizeof(Slot) - Slot::first_bytes));
    }
    // After wait_for_slots: the place of the message's bytes.
    std::byte* slot_room() const { return slot_->payload(); }
    // Makes the message visible whose bytes are in slot_room(). length <= what was waited for.
    void publish_in_slots(uint32_t kind, uint32_t id, size_t length) {
        put_header(kind, id, length);
        advance(slots_for(length));
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }
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
        put_header(kind_and_flags | flag_in_data, id, length);
        advance(1);
        segment_.wake_if_parked(segment_.outgoing().reader_parked);
    }

  private:
    void put_header(uint32_t kind_and_flags, uint32_t id, size_t length) {
        slot_->kind_and_id.store(Slot::word(kind_and_flags, id), std::memory_order_relaxed);
        // Release: whoever sees the sequence sees everything of the record written before it.
        slot_->sequence_and_length.store(Slot::word(sequence_of(slot_position_), static_cast<uint32_t>(length)),
                                         std::memory_order_release);
    }
    Status really_wait_for_slots(uint64_t count, const Deadline& deadline);
    Status really_wait_for_data(size_t length, const Deadline& deadline);
    template <class HasRoom>
    Status wait_for_room(HasRoom has_room, const Deadline& deadline);
    bool has_slots(uint64_t count) const { return slot_position_ + count - slots_read_ <= memory_.slot_count; }
    // What the next message needs to know is worked out here, after one has been published and before the next one comes.
    void advance(uint64_t count) {
        slot_position_ += count;
        slot_ = &memory_.slot(slot_position_);
        free_here_ -= count;
        if (free_here_ > RingMemory::slots_fetched_ahead) [[likely]]
            shared_memory::fetch_line_to_write(reinterpret_cast<std::byte*>(slot_ + RingMemory::slots_fetched_ahead));
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
    bool make_way(uint64_t count);
    size_t put_run(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* wanted);
    void skip_to_start(uint64_t invalidated_end);
    void invalidate(uint64_t position, uint64_t end);
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
    uint64_t slots_read_;            // as last seen
    Slot* slot_ = nullptr;           // the next one
    uint64_t free_here_ = 0;         // slots from there that are free for certain and come before the boundary
    uint64_t boundary_;              // where the writer next decides how to go on: every short_lap() slots
    bool last_lap_was_long_ = false; // it went through all of the ring: no slot has a sequence older than that
    shared_memory::SpinBudget spin_budget_;
    uint64_t data_read_ = 0;
};

// The reader's half. A record is looked at, then consumed; space goes back to the writer in portions.
class RingReader {
  public:
    RingReader(shared_memory::Segment& segment, uint64_t first_position = 0)
        : segment_(segment), memory_(ring_memory(segment, segment.side() ^ 1)),
          longest_in_slots_(memory_.longest_in_slots()),
          iterations_(segment.spins() ? shared_memory::spin_iterations : 1), slot_position_(first_position),
          given_slots_(first_position), invalidated_(first_position) {
        look_ahead();
    }

    struct Record {
        uint32_t kind_and_flags;
        uint32_t id;
        size_t length;
        const std::byte* bytes;
        uint64_t total; // of the whole message; only in the first record of several

        bool in_slots() const { return (kind_and_flags & ~kind_mask) == 0; }
    };

    // Waits for the record at the read position; does not consume it.
    Status wait_for_record(Record* record, const Deadline& deadline) {
        uint64_t sequence_and_length;
        // Who only polls looks once.
        if (!spin_for_it(1, &sequence_and_length) &&
            (deadline.immediate() || !spin_for_it(iterations_, &sequence_and_length))) {
            if (Status s = really_wait_for_record(deadline)) return s;
            sequence_and_length = read_slot();
        }
        // Each field is copied once: the writer may change it while we check.
        const Slot& slot = *slot_;
        const uint64_t kind_and_id = slot.kind_and_id.load(std::memory_order_relaxed);
        record->length = Slot::high(sequence_and_length);
        record->kind_and_flags = Slot::low(kind_and_id);
        record->id = Slot::high(kind_and_id);
        record->bytes = slot.payload();
        if (record->in_slots() && record->length <= longest_here_) [[likely]]
            return IPC_OK;
        return find_elsewhere(record, deadline);
    }
    void consume(const Record& record) {
        if (record.in_slots()) {
            consume_slots(slots_for(record.length));
        } else if ((record.kind_and_flags & flag_run) != 0) {
            consume_of_run(1);
        } else {
            consume_data(record.length);
        }
    }
    // Takes the next message if it is one of exactly this kind and id, lies in slots and fits into `capacity`, in the fewest steps
    // between its arrival and its use. `awaited`: it may arrive within the spin iterations, as the answer does that a caller spins for;
    // otherwise it has to be there, as the next one of a stream is. False: nothing was touched.
    bool take_next(uint32_t kind, uint32_t id, bool awaited, std::byte* to, size_t capacity, size_t* length) {
        uint64_t sequence_and_length;
        if (!spin_for_it(awaited ? iterations_ : 1, &sequence_and_length)) return false;
        const Slot& slot = *slot_;
        // Flags, which would stand beside the kind, are none.
        if (slot.kind_and_id.load(std::memory_order_relaxed) != Slot::word(kind, id)) return false;
        const size_t bytes = Slot::high(sequence_and_length);
        if (bytes > capacity || bytes > longest_here_) return false;
        copy_payload(to, slot.payload(), bytes);
        *length = bytes;
        pass_slots(slots_for(bytes));
        if (!awaited && owes_slots()) give_back();
        return true;
    }
    // As wait_for_record, if what comes next is a message of this kind in slots, of at most `limit` bytes. `awaited` as above. False: nothing
    // was touched.
    bool look(uint32_t kind, bool awaited, size_t limit, Record* record) {
        uint64_t sequence_and_length;
        if (!spin_for_it(awaited ? iterations_ : 1, &sequence_and_length)) return false;
        // Each field is copied once: the writer may change it while we check.
        const Slot& slot = *slot_;
        const uint64_t kind_and_id = slot.kind_and_id.load(std::memory_order_relaxed);
        const size_t bytes = Slot::high(sequence_and_length);
        if (Slot::low(kind_and_id) != kind || bytes > limit || bytes > longest_here_) return false;
        record->kind_and_flags = kind;
        record->id = Slot::high(kind_and_id);
        record->length = bytes;
        record->bytes = slot.payload();
        return true;
    }
    // Gives back what is due. After what was awaited it is left for this: who awaits an answer has something better to do when it has
    // come, and nothing when it has sent its next question.
    void settle() {
        if (owes_slots()) [[unlikely]]
            give_back();
    }
    // Takes messages that are there already and are plain ones of this kind, in slots or in runs: back to back to `to`, at most
    // max_count and `capacity` bytes. Returns how many.
    size_t take_many(uint32_t kind, std::byte* to, size_t capacity, uint32_t* lengths, size_t max_count);

  private:
    // What the next message's reading needs to know is worked out here, after one has been read and before the next one comes.
    void look_ahead() {
        slot_ = &memory_.slot(slot_position_);
        const uint64_t to_end = memory_.slots_to_end(slot_position_) * sizeof(Slot);
        longest_here_ = std::min(longest_in_slots_, static_cast<size_t>(to_end) - (sizeof(Slot) - Slot::first_bytes));
    }
    // Looks for the next record at most so often; `looks_` is how often a wait does before it first reads the clock. Here rather
    // than in the wait, so that no way back from a function lies between a record's arrival and its use.
    bool spin_for_it(int iterations, uint64_t* sequence_and_length) const {
        const std::atomic<uint64_t>& word = slot_->sequence_and_length;
        const uint32_t sequence = sequence_of(slot_position_);
        for (;; shared_memory::relax()) {
            // Acquire: pairs with the writer's release of the sequence.
            *sequence_and_length = word.load(std::memory_order_acquire);
            if (Slot::low(*sequence_and_length) == sequence) return true;
            if (--iterations <= 0) return false;
        }
    }
    // Acquire: as above.
    uint64_t read_slot() const { return slot_->sequence_and_length.load(std::memory_order_acquire); }
    void consume_slots(uint64_t count) {
        pass_slots(count);
        if (owes_slots()) give_back();
    }
    void pass_slots(uint64_t count) {
        slot_position_ += count;
        look_ahead();
        spans_ |= count != 1;
    }
    void consume_data(size_t length) {
        ++slot_position_;
        look_ahead();
        data_position_ = memory_.end_of(data_position_, length);
        if (data_position_ - given_data_ >= memory_.data_bytes / 4 || owes_slots()) give_back();
    }
    // In portions, so that in a stream of messages the line with the positions seldom crosses between the cores.
    bool owes_slots() const { return slot_position_ - given_slots_ >= memory_.short_lap() / 4; }
    void give_back();
    void invalidate();
    bool pass_over_rest();
    Status really_wait_for_record(const Deadline& deadline);
    Status find_elsewhere(Record* record, const Deadline& deadline);
    bool open_run(size_t length);
    void consume_of_run(size_t messages);
    void fetch_next_run() const;
    size_t take_of_run(std::byte* to, size_t capacity, uint32_t* lengths, size_t max_count);

    shared_memory::Segment& segment_;
    RingMemory memory_;
    size_t longest_in_slots_;
    int iterations_;             // between two readings of the clock
    const Slot* slot_ = nullptr; // the next one
    size_t longest_here_ = 0;    // bytes that a message there can have in slots, whatever its writer says
    uint64_t slot_position_;
    uint64_t data_position_ = 0;
    uint64_t given_slots_;
    uint64_t invalidated_; // up to here
    uint64_t given_data_ = 0;
    shared_memory::SpinBudget spin_budget_;
    struct {
        size_t bytes = 0; // of the whole record; 0: none is begun
        size_t each;      // bytes of one message
        size_t taken;     // bytes of those consumed
    } run_;               // the run that is being read
    bool spans_ = false;  // since invalidated_ some message took several slots
};

} // namespace ipc::shm
