#pragma once

#include "core/status.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

// The memory of a ring, docs/wire-formats.md "ring". Twin of managed/Ipc/Transports/RingQueueLayout.cs.
namespace ipc::ring {

// Atomics in shared memory must be lock-free and address-free; that holds for 32-bit processes as well.
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

inline constexpr uint32_t magic = 0x52435049; // "IPCR"
inline constexpr uint32_t version = 1;
inline constexpr size_t header_bytes = 4096;
inline constexpr size_t block_header_bytes = 16;
inline constexpr uint32_t most_blocks = 1u << 16; // what a list's head has bits for
inline constexpr uint32_t largest_block = 1u << 30;
inline constexpr uint32_t most_owners = 4095; // what a state word has bits for; 0 is nobody

enum class Order : uint32_t { fifo = 1, lifo = 2 };
enum class Side : unsigned { readers = 0, writers = 1 };

// Regions in the order of positions: being read [read_start, read_end), full [read_end, write_start),
// being written [write_start, write_end), free after that. A claim moves an end, a completion moves a start.
enum class Cursor : unsigned { write_end = 0, write_start = 1, read_end = 2, read_start = 3 };
enum class List : unsigned { free = 0, full = 1 };

enum class Phase : unsigned {
    free = 1,    // nobody's, may be claimed by a writer
    writing = 2, // claimed by a writer
    full = 3,    // holds a message
    reading = 4, // claimed by a reader
    skip = 5,    // its writer died: there is no message here
};

// A block's state: who has it, for what, and at which turn, in one word, so that claiming and signing are one atomic step.
// The turn is the position (fifo) or a count of changes (lifo), 48 bits of it: it is what keeps a late compare-and-swap out.
inline constexpr uint64_t turn_mask = (uint64_t{1} << 48) - 1;
constexpr uint64_t state_word(uint64_t turn, uint32_t owner, Phase phase) {
    return (turn << 16) | (uint64_t{owner} << 4) | static_cast<uint64_t>(phase);
}
constexpr uint64_t turn_of(uint64_t state) {
    return state >> 16;
}
constexpr uint32_t owner_of(uint64_t state) {
    return static_cast<uint32_t>(state >> 4) & most_owners;
}
constexpr Phase phase_of(uint64_t state) {
    return static_cast<Phase>(state & 15);
}
constexpr bool is_known(Phase phase) {
    return phase >= Phase::free && phase <= Phase::skip;
}
// Whether somebody has to finish what the word says: a dead owner's block must be finished for it.
constexpr bool is_claimed(uint64_t state) {
    return phase_of(state) == Phase::writing || phase_of(state) == Phase::reading;
}

// How an attempt to claim a block ended.
enum class Claim {
    taken,
    blocked,   // the ring is full, or empty; perhaps because of one block's owner
    contended, // others were faster so often that the clock should be looked at
    too_small, // the next message is longer than the reader's buffer; it stays
    damaged,   // words that no writer or reader of ours leaves
};

// Each word that many change has a line (and its neighbour, which the hardware likes to fetch along) of its own.
struct Line64 {
    alignas(128) std::atomic<uint64_t> word;
};
struct Line32 {
    alignas(128) std::atomic<uint32_t> word;
    std::atomic<uint32_t> woken; // Windows: how often all who sleep on the word were woken
};

struct Header {
    uint32_t magic;
    uint32_t version;
    uint32_t order;
    uint32_t block_count;
    uint32_t block_bytes;
    alignas(64) uint32_t wake_name[4]; // Windows: the maker's, before the file gets its name; else 0
    Line64 cursors[4];
    Line64 heads[2];
    Line32 parked[2];
};
static_assert(offsetof(Header, wake_name) == 64 && offsetof(Header, cursors) == 128 && offsetof(Header, heads) == 640 &&
              offsetof(Header, parked) == 896);
static_assert(sizeof(Header) <= header_bytes);

struct Block {
    std::atomic<uint64_t> state;
    std::atomic<uint32_t> length;
    std::atomic<uint32_t> next; // lifo: 1 + index of the block below in its list; 0 for none
};
static_assert(sizeof(Block) == block_header_bytes);

// Bytes from one block to the next: header and payload in whole cache lines.
constexpr uint64_t block_stride(uint32_t block_bytes) {
    return (block_header_bytes + uint64_t{block_bytes} + 63) & ~uint64_t{63};
}
// Bytes of the whole file; 0 if the numbers are impossible.
constexpr uint64_t file_bytes(uint32_t block_count, uint32_t block_bytes) {
    if (block_count < 2 || block_count > most_blocks || (block_count & (block_count - 1)) != 0 || block_bytes == 0 ||
        block_bytes > largest_block)
        return 0;
    return header_bytes + block_count * block_stride(block_bytes);
}

// Writes the words of a ring in which nothing waits. `first`: the position of the first message, 0 but in tests.
void format(std::byte* memory, Order order, uint32_t block_count, uint32_t block_bytes, uint64_t first = 0);

} // namespace ipc::ring
