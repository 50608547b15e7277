#pragma once

#include "shared_memory/segment.hpp"
#include "transports/shm/payload_copy.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

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

inline constexpr uint32_t kind_mask = 0xFFFF;
inline constexpr uint32_t flag_more = 1u << 16;
inline constexpr uint32_t flag_continues = 2u << 16;
inline constexpr uint32_t flag_in_data = 4u << 16; // the bytes lie in the data area
inline constexpr uint32_t flag_skip = 8u << 16;    // no message: go on at the ring's first slot
inline constexpr uint32_t flag_run = 16u << 16;    // messages of one length back to back in the data area
// Of messages in slots: its writer had read the other ring's last record with this flag, and reads the next one before it writes
// another.
inline constexpr uint32_t flag_in_turn = 32u << 16;
inline constexpr uint32_t flag_back = 64u << 16; // with flag_in_turn: the next record begins in the ring's first slot
inline constexpr uint32_t turn_flags = flag_in_turn | flag_back;

inline uint32_t sequence_of(uint64_t position) {
    return static_cast<uint32_t>(position + 1);
}

// How many slots a message in slots takes.
inline uint64_t slots_for(size_t length) {
    return (uint64_t{length} + (sizeof(Slot) - Slot::first_bytes) + sizeof(Slot) - 1) / sizeof(Slot);
}

// The memory of one ring as its reader or its writer sees it. All members are private to the process.
struct RingMemory {
    // Longer messages go through the data area, which costs them a line: a few of them would fill the first slots, in which calls
    // stay near (most_slots_of_short_lap).
    static constexpr size_t most_bytes_in_slots = Slot::first_bytes + 31 * sizeof(Slot);

    // The writer goes round in so many slots, few enough to stay in the first-level caches of both sides, as long as the reader
    // keeps up with that; when it does not, through all of the ring.
    static constexpr uint64_t most_slots_of_short_lap = 128;

    // Calls of messages of up to `most_slots_in_turn` slots stay in the ring's first `slots_of_turns`. Fewer are as fast; more leave room for
    // some requests behind one that is not read.
    static constexpr uint64_t most_slots_in_turn = 2;
    static constexpr uint64_t slots_of_turns = 8;

    // The writer asks for the line so many slots ahead of the next message, if the reader has done with it. Measured,
    // docs/experiments.md.
    static constexpr uint64_t slots_fetched_ahead = 16;

    // Of one run. Fewer than `fewest_of_run` go into slots of their own, where each is one line.
    static constexpr size_t most_bytes_of_run = 4096;
    static constexpr size_t fewest_of_run = 4;

    Slot* slots;
    uint64_t slot_count; // a power of two
    std::byte* data;
    uint64_t data_bytes; // a power of two

    Slot& slot(uint64_t position) const { return slots[position & (slot_count - 1)]; }
    uint64_t slot_in_ring(uint64_t position) const { return position & (slot_count - 1); }
    uint64_t short_lap() const { return std::min(slot_count, most_slots_of_short_lap); }
    // Where the first slot comes next, or this position if that is it.
    uint64_t next_start(uint64_t position) const { return (position + slot_count - 1) & ~(slot_count - 1); }
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

} // namespace ipc::shm
