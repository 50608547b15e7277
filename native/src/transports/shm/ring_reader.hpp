#pragma once

#include "core/out_of_line.hpp"
#include "shared_memory/fetching.hpp"
#include "shared_memory/segment.hpp"
#include "transports/shm/ring_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ipc::shm {

// The reader's half. A record is looked at, then consumed; space goes back to the writer in portions.
class RingReader {
  public:
    RingReader(shared_memory::Segment& segment, uint64_t first_position = 0)
        : segment_(segment), memory_(ring_memory(segment, segment.side() ^ 1)),
          longest_in_slots_(memory_.longest_in_slots()),
          iterations_(segment.spins() ? shared_memory::spin_iterations : 1), slot_position_(first_position),
          portion_begin_(first_position), own_from_(first_position), given_slots_(first_position) {
        look_ahead();
    }

    struct Record {
        uint32_t kind_and_flags;
        uint32_t id;
        size_t length;
        const std::byte* bytes;
        uint64_t total; // of the whole message; only in the first record of several

        bool in_slots() const { return (kind_and_flags & ~(kind_mask | turn_flags)) == 0; }
        bool in_turn() const { return (kind_and_flags & flag_in_turn) != 0; }
    };

    // Waits for the record at the read position; does not consume it.
    IPC_IN_LINE Status wait_for_record(Record* record, const Deadline& deadline) {
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
    IPC_IN_LINE void consume(const Record& record) {
        if (record.in_slots()) {
            owns_ |= record.id == 0; // a plain message, most likely one of a stream
            pass_slots(slots_for(record.length), record.kind_and_flags);
            if (has_portion()) end_portion();
        } else if ((record.kind_and_flags & flag_run) != 0) {
            consume_of_run(1);
        } else {
            consume_data(record.length);
        }
    }
    // Takes the next message if it is one of exactly this kind and id, lies in slots and fits into `capacity`, in the fewest steps
    // between its arrival and its use; *in_turn: whether it was one in turn. `awaited`: it may arrive within the spin iterations, as the
    // answer does that a caller spins for; otherwise it has to be there, as the next one of a stream is, and is none in turn. False: nothing
    // was touched.
    bool take_next(uint32_t kind, uint32_t id, bool awaited, std::byte* to, size_t capacity, size_t* length,
                   bool* in_turn) {
        uint64_t sequence_and_length;
        if (!spin_for_it(awaited ? iterations_ : 1, &sequence_and_length)) return false;
        const Slot& slot = *slot_;
        // No other flags than these, which would stand beside the kind.
        const uint64_t kind_and_id = slot.kind_and_id.load(std::memory_order_relaxed);
        const uint32_t flags = awaited ? Slot::low(kind_and_id) & turn_flags : 0;
        if (kind_and_id != Slot::word(kind | flags, id)) return false;
        const size_t bytes = Slot::high(sequence_and_length);
        if (bytes > capacity || bytes > longest_here_) return false;
        copy_payload(to, slot.payload(), bytes);
        *length = bytes;
        *in_turn = (flags & flag_in_turn) != 0;
        pass_slots(slots_for(bytes), flags);
        if (!awaited) {
            owns_ = true;
            if (has_portion()) end_portion();
        }
        return true;
    }
    // As wait_for_record, if what comes next is a message of this kind in slots, of at most `limit` bytes. `awaited` as above. False: nothing
    // was touched.
    IPC_IN_LINE bool look(uint32_t kind, bool awaited, size_t limit, Record* record) {
        uint64_t sequence_and_length;
        if (!spin_for_it(awaited ? iterations_ : 1, &sequence_and_length)) return false;
        // Each field is copied once: the writer may change it while we check.
        const Slot& slot = *slot_;
        const uint64_t kind_and_id = slot.kind_and_id.load(std::memory_order_relaxed);
        const size_t bytes = Slot::high(sequence_and_length);
        if ((Slot::low(kind_and_id) & ~turn_flags) != kind || bytes > limit || bytes > longest_here_) return false;
        record->kind_and_flags = Slot::low(kind_and_id);
        record->id = Slot::high(kind_and_id);
        record->length = bytes;
        record->bytes = slot.payload();
        return true;
    }
    // Gives back what is due. After what was awaited it is left for this: who awaits an answer has something better to do when it has
    // come, and nothing when it has sent its next question.
    void settle() {
        if (has_portion()) [[unlikely]]
            end_portion();
    }
    // To be called before a message in turn is written, which lets the peer write again to all slots that have been read, and to the `held`
    // slots of the message that is held. False: it must not be one in turn, because there are slots to be owned, which can wait; but if the
    // peer has gone back to its ring's first slot it soon needs to hear of it, so they are owned at once.
    bool try_to_tell(uint64_t held = 0) {
        if (owns_) [[unlikely]] {
            if (!peer_went_back_) return false;
            own_slots();
        }
        peer_went_back_ = false;
        own_from_ = slot_position_ + held;
        return true;
    }
    // Whether the peer may write again to the slots of this message, which is held, as soon as its answer is there.
    static bool is_told_by_its_answer(const Record& record) {
        return record.in_turn() && slots_for(record.length) <= most_slots_not_owned;
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
    // Looks for the next record at most so often; `iterations_` is how often a wait does before it first reads the clock. Here rather
    // than in the wait, so that no way back from a function lies between a record's arrival and its use.
    IPC_IN_LINE bool spin_for_it(int iterations, uint64_t* sequence_and_length) const {
        const std::atomic<uint64_t>& word = slot_->sequence_and_length;
        const uint32_t sequence = sequence_of(slot_position_);
        for (;; shared_memory::relax()) {
            // Acquire: pairs with the writer's release of the sequence.
            *sequence_and_length = word.load(std::memory_order_acquire);
            if (expects_two_) shared_memory::fetch_line_to_read(reinterpret_cast<const std::byte*>(slot_ + 1));
            if (Slot::low(*sequence_and_length) == sequence) return true;
            if (--iterations <= 0) return false;
        }
    }
    // Acquire: as above.
    uint64_t read_slot() const { return slot_->sequence_and_length.load(std::memory_order_acquire); }
    IPC_IN_LINE void pass_slots(uint64_t count, uint32_t flags) {
        slot_position_ += count;
        look_ahead();
        owns_ |= count > most_slots_not_owned;
        // The next message is most likely as long. Only in turn: another writer may be far ahead, or at work on that line.
        expects_two_ = count == 2 && (flags & flag_in_turn) != 0;
        if ((flags & flag_back) != 0) go_back();
    }
    // After a record with flag_back.
    void go_back();
    void consume_data(size_t length) {
        own_data(length);
        owns_ = true;
        ++slot_position_;
        look_ahead();
        data_position_ = memory_.end_of(data_position_, length);
        if (data_position_ - given_data_ >= memory_.data_bytes / 4)
            give_back();
        else if (has_portion())
            end_portion();
    }
    // In portions, so that in a stream of messages the line with the positions seldom crosses between the cores.
    bool has_portion() const { return slot_position_ - portion_begin_ >= memory_.short_lap() / 4; }
    void end_portion();
    void begin_portion();
    bool may_keep_more() const;
    void give_back();
    // Calls of so few slots are as fast without.
    static constexpr uint64_t most_slots_not_owned = 2;
    // A message that is copied comes in records that are no longer; one lent in place may, and lending costs the same whatever its length.
    static constexpr size_t most_bytes_owned = size_t{64} << 10;
    void own_slots();
    void own_data(size_t length);
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
    uint64_t portion_begin_;
    uint64_t own_from_; // the slots before are owned, or not worth it, or already the peer's to write again
    uint64_t given_slots_;
    uint64_t given_data_ = 0;
    int64_t given_ms_ = 0; // the tick of the clock in which a portion was last given back for being slow
    shared_memory::SpinBudget spin_budget_;
    struct {
        size_t bytes = 0;         // of the whole record; 0: none is begun
        size_t each;              // bytes of one message
        size_t taken;             // bytes of those consumed
    } run_;                       // the run that is being read
    bool peer_went_back_ = false; // since this side last wrote a message in turn
    // The next message most likely takes two slots: its second line is asked for whenever the first one is looked at.
    bool expects_two_ = false;
    bool owns_ = false; // what came since the last giving back is worth it: plain messages, or long ones
};

} // namespace ipc::shm
