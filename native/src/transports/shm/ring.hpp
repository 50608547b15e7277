#pragma once

#include "shared_memory/link.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::shm {

// One slot, docs/wire-formats.md. The stamp is written last: a slot whose stamp is right is complete. Header and a short
// payload share the cache line, so that a short message crosses between cores as one line.
struct Slot {
    static constexpr size_t inline_bytes = 48;

    alignas(64) std::atomic<uint32_t> stamp;
    std::atomic<uint32_t> length;
    std::atomic<uint32_t> kind_and_flags; // kind in the low half
    std::atomic<uint32_t> id;
    std::byte payload[inline_bytes];
};
static_assert(sizeof(Slot) == 64);

// Copies at most Slot::inline_bytes: two or three overlapping moves instead of a call, which costs as much as all else
// that sending a short message does.
inline void copy_inline(std::byte* to, const std::byte* from, size_t length) {
    static_assert(Slot::inline_bytes == 48);
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
        if (length > 32) move(16, Block{});
        std::memcpy(to + length - 16, &last, 16);
    } else if (length >= 8) {
        uint64_t last;
        std::memcpy(&last, from + length - 8, 8);
        move(0, uint64_t{});
        std::memcpy(to + length - 8, &last, 8);
    } else {
        for (size_t i = 0; i < length; ++i) to[i] = from[i];
    }
}

inline constexpr uint32_t flag_more = 1u << 16;
inline constexpr uint32_t flag_continues = 2u << 16;

inline uint32_t stamp_of(uint64_t position) {
    return static_cast<uint32_t>(position + 1);
}

// The memory of one ring as its reader or its writer sees it. All members are private to the process.
struct RingMemory {
    Slot* slots;
    uint64_t slot_count; // a power of two
    std::byte* data;
    uint64_t data_bytes; // a power of two

    Slot& slot(uint64_t position) const { return slots[position & (slot_count - 1)]; }

    // Where a record of `length` bytes lies when everything up to `position` is taken: contiguous, never split at the end.
    uint64_t place(uint64_t position, size_t length) const {
        uint64_t offset = position & (data_bytes - 1);
        return offset + footprint(length) > data_bytes ? position + (data_bytes - offset) : position;
    }
    static uint64_t footprint(size_t length) { return (uint64_t{length} + 63) & ~uint64_t{63}; }
    std::byte* at(uint64_t position) const { return data + (position & (data_bytes - 1)); }
    size_t largest_record() const { return static_cast<size_t>(data_bytes / 2); }
};

RingMemory ring_memory(const shared_memory::Link& link, unsigned ring);

// The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read.
class RingWriter {
  public:
    RingWriter(shared_memory::Link& link, uint64_t first_position = 0)
        : link_(link), memory_(ring_memory(link, link.side())), slot_position_(first_position),
          slots_read_(first_position) {}

    const RingMemory& memory() const { return memory_; }

    // Waits until a slot and `data_length` contiguous bytes of the data area are free. 0: the slot alone.
    Status wait_for_room(size_t data_length, const Deadline& deadline) {
        if (has_room(data_length) && !link_.ended()) [[likely]]
            return IPC_OK;
        return really_wait_for_room(data_length, deadline);
    }

    // After wait_for_room: the place of the record's bytes. length <= what was waited for.
    std::byte* inline_room() const { return memory_.slot(slot_position_).payload; }
    std::byte* data_room(size_t length) const { return memory_.at(memory_.place(data_position_, length)); }

    // Makes the record visible. `in_data`: its bytes are in data_room(length), not inline.
    void publish(uint32_t kind_and_flags, uint32_t id, size_t length, bool in_data) {
        Slot& slot = memory_.slot(slot_position_);
        if (in_data) data_position_ = memory_.place(data_position_, length) + RingMemory::footprint(length);
        slot.length.store(static_cast<uint32_t>(length), std::memory_order_relaxed);
        slot.kind_and_flags.store(kind_and_flags, std::memory_order_relaxed);
        slot.id.store(id, std::memory_order_relaxed);
        // Release: whoever sees the stamp sees everything of the record written before it.
        slot.stamp.store(stamp_of(slot_position_), std::memory_order_release);
        ++slot_position_;
        link_.wake_if_parked(link_.outgoing().reader_parked);
    }

  private:
    Status really_wait_for_room(size_t data_length, const Deadline& deadline);
    bool has_room(size_t data_length) const {
        if (slot_position_ - slots_read_ >= memory_.slot_count) return false;
        if (data_length == 0) return true;
        uint64_t end = memory_.place(data_position_, data_length) + RingMemory::footprint(data_length);
        return end - data_read_ <= memory_.data_bytes;
    }
    // Takes the reader's positions over, which it may have written nonsense to. False: nonsense.
    bool refresh();

    shared_memory::Link& link_;
    RingMemory memory_;
    uint64_t slot_position_;
    uint64_t data_position_ = 0;
    uint64_t slots_read_; // as last seen
    uint64_t data_read_ = 0;
};

// The reader's half. A record is looked at, then consumed; space goes back to the writer in portions.
class RingReader {
  public:
    RingReader(shared_memory::Link& link, uint64_t first_position = 0)
        : link_(link), memory_(ring_memory(link, link.side() ^ 1)), slot_position_(first_position),
          published_slots_(first_position) {}

    struct Record {
        uint32_t kind_and_flags;
        uint32_t id;
        size_t length;
        bool in_data;
        const std::byte* bytes;
        uint64_t total; // of the whole message; only in the first record of several
    };

    // Waits for the record at the read position; does not consume it.
    Status wait_for_record(Record* record, const Deadline& deadline) {
        if (!has_record())
            if (Status s = really_wait_for_record(deadline)) return s;
        const Slot& slot = memory_.slot(slot_position_);
        // Each field is copied once: the writer may change it while we check.
        record->length = slot.length.load(std::memory_order_relaxed);
        record->kind_and_flags = slot.kind_and_flags.load(std::memory_order_relaxed);
        record->id = slot.id.load(std::memory_order_relaxed);
        record->bytes = slot.payload;
        record->in_data = record->length > Slot::inline_bytes || (record->kind_and_flags & ~uint32_t{0xFFFF}) != 0;
        return record->in_data ? find_data(record, slot) : IPC_OK;
    }
    void consume(const Record& record) {
        ++slot_position_;
        if (record.in_data)
            data_position_ = memory_.place(data_position_, record.length) + RingMemory::footprint(record.length);
        // In portions, so that in a stream of messages the line with the positions seldom crosses between the cores.
        if (slot_position_ - published_slots_ >= memory_.slot_count / 4 ||
            data_position_ - published_data_ >= memory_.data_bytes / 4)
            give_back();
    }

  private:
    bool has_record() const {
        // Acquire: pairs with the writer's release of the stamp.
        return memory_.slot(slot_position_).stamp.load(std::memory_order_acquire) == stamp_of(slot_position_);
    }
    void give_back() {
        shared_memory::RingControl& control = link_.incoming();
        published_slots_ = slot_position_;
        published_data_ = data_position_;
        // Release: our reading of the records is over before the writer sees them given back.
        control.data_read.store(data_position_, std::memory_order_release);
        control.slots_read.store(slot_position_, std::memory_order_release);
        link_.wake_if_parked(control.writer_parked);
    }
    Status really_wait_for_record(const Deadline& deadline);
    Status find_data(Record* record, const Slot& slot) const;

    shared_memory::Link& link_;
    RingMemory memory_;
    uint64_t slot_position_;
    uint64_t data_position_ = 0;
    uint64_t published_slots_;
    uint64_t published_data_ = 0;
};

} // namespace ipc::shm
