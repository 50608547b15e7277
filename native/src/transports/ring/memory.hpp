#pragma once

#include "shared_memory/waiting.hpp"
#include "transports/ring/layout.hpp"

#include <cstddef>

namespace ipc::ring {

// The atomic steps of fifo.hpp and lifo.hpp on a real mapping. Those are templates over this class, so that tests can put
// a model in its place and try every order of steps, or die after any of them.
//
// Everything is sequentially consistent: a step that publishes is followed by a look at the parked word, and a reader or
// writer that parks does it the other way round; one total order means that one of the two sees the other. On x86 that
// costs nothing over release and acquire, because every publishing step is a locked instruction anyway.
class Memory {
  public:
    Memory(std::byte* memory, uint32_t block_count, uint32_t block_bytes)
        : header_(reinterpret_cast<Header*>(memory)), blocks_(memory + header_bytes),
          stride_(static_cast<size_t>(block_stride(block_bytes))), count_(block_count), block_bytes_(block_bytes) {}

    uint32_t count() const { return count_; }
    uint32_t block_bytes() const { return block_bytes_; }
    Header& header() const { return *header_; }
    Block& block(uint32_t index) const { return *reinterpret_cast<Block*>(blocks_ + index * stride_); }
    std::byte* payload(uint32_t index) const { return blocks_ + index * stride_ + block_header_bytes; }
    std::atomic<uint32_t>& parked(Side side) const { return header_->parked[static_cast<unsigned>(side)].word; }

    // The next turn of a loop begins: nothing that was read in earlier turns matters any more. The explorer of the tests forgets
    // it then; `depth` tells a loop from one inside it.
    void begin_attempt(unsigned /*depth*/) {}

    uint64_t load(Cursor cursor) { return word(cursor).load(); }
    bool swap(Cursor cursor, uint64_t expected, uint64_t desired) {
        return word(cursor).compare_exchange_strong(expected, desired);
    }
    uint64_t load(List list) { return word(list).load(); }
    bool swap(List list, uint64_t expected, uint64_t desired) {
        return word(list).compare_exchange_strong(expected, desired);
    }
    uint64_t load_state(uint32_t index) { return block(index).state.load(); }
    bool swap_state(uint32_t index, uint64_t expected, uint64_t desired) {
        return block(index).state.compare_exchange_strong(expected, desired);
    }
    // Published by the step that follows them.
    uint32_t load_length(uint32_t index) { return block(index).length.load(std::memory_order_relaxed); }
    void store_length(uint32_t index, uint32_t length) { block(index).length.store(length, std::memory_order_relaxed); }
    uint32_t load_next(uint32_t index) { return block(index).next.load(std::memory_order_relaxed); }
    void store_next(uint32_t index, uint32_t next) { block(index).next.store(next, std::memory_order_relaxed); }

    // After something was published that this side may wait for: wakes one of those who sleep, if any does.
    void wake(Side side) {
        std::atomic<uint32_t>& word = parked(side);
        if (word.load() != 0 && word.exchange(0) != 0) [[unlikely]]
            shared_memory::futex_wake(word, 1);
    }

  private:
    std::atomic<uint64_t>& word(Cursor cursor) const { return header_->cursors[static_cast<unsigned>(cursor)].word; }
    std::atomic<uint64_t>& word(List list) const { return header_->heads[static_cast<unsigned>(list)].word; }

    Header* header_;
    std::byte* blocks_;
    size_t stride_;
    uint32_t count_;
    uint32_t block_bytes_;
};

} // namespace ipc::ring
