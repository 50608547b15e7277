#pragma once

#include "core/out_of_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ipc::shm {

// Which slots may hold a sequence that comes due although no record has been written there: what the writer of a ring knows of its own
// past, so that it need not look into the slot. That line is at the reader, which is waiting there or soon will be, and looking would fetch
// it right before a message is to go out (docs/experiments.md, "What a call waits for").
//
// A slot is suspect after bytes of a message have gone through it, and whatever it holds is once in 2^31 slots, before sequences come again;
// a record that begins there ends the suspicion.
class SuspectSlots {
  public:
    SuspectSlots(uint64_t slot_count, uint64_t position)
        : mask_(slot_count - 1), words_(std::max<size_t>(1, word(slot_count))),
          bits_(std::make_unique<uint64_t[]>(words_)), era_(position >> era_bits) {
        if (era_ != 0) suspect_all(); // in tests, which begin anywhere
    }

    IPC_IN_LINE bool has(uint64_t position) const {
        const uint64_t slot = position & mask_;
        return (bits_[word(slot)] >> slot % 64 & 1) != 0;
    }
    void remove(uint64_t position) {
        const uint64_t slot = position & mask_;
        bits_[word(slot)] &= ~(uint64_t{1} << slot % 64);
    }
    // Positions of one lap, one or more.
    IPC_IN_LINE void add(uint64_t first, uint64_t end) {
        if (end - first > 1) return add_several(first, end);
        const uint64_t slot = first & mask_;
        bits_[word(slot)] |= uint64_t{1} << slot % 64;
    }
    // To be told once a lap at least.
    void come_to(uint64_t position) {
        if (position >> era_bits == era_) return;
        era_ = position >> era_bits;
        suspect_all();
    }

  private:
    // Sequences have 32 bits. Whatever a slot holds, an era ends before that comes due.
    static constexpr unsigned era_bits = 31;

    IPC_OUT_OF_LINE void add_several(uint64_t first, uint64_t end) {
        for (uint64_t slot = first & mask_, left = end - first; left != 0;) {
            const uint64_t here = std::min(left, 64 - slot % 64);
            bits_[word(slot)] |= ~uint64_t{0} >> (64 - here) << slot % 64;
            slot += here;
            left -= here;
        }
    }
    static size_t word(uint64_t slot) { return static_cast<size_t>(slot / 64); }
    void suspect_all() { std::fill_n(bits_.get(), words_, ~uint64_t{0}); }

    uint64_t mask_;
    size_t words_;
    std::unique_ptr<uint64_t[]> bits_;
    uint64_t era_;
};

} // namespace ipc::shm
