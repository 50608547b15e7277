#pragma once

#include "shared_memory/waiting.hpp"

#include <atomic>
#include <cstdint>

// Parking of any number of waiters, in any processes, on one word of the mapping (docs/wire-formats.md, "Parking of many").
// The lowest bit says that somebody may sleep; the rest counts up with every announcement, so that a bit cleared by
// a waker can never be the bit of a waiter that announced itself meanwhile. A flag rather than a number of sleepers: a
// killed sleeper leaves nothing to be put right.
namespace ipc::shared_memory {

using ParkingWord = std::atomic<uint32_t>;

inline constexpr uint32_t somebody_parked = 1;

// A waiter tells that it is about to sleep; it must look again at what it waits for, and may then sleep on the value
// returned. A full fence: whoever publishes after that look sees the bit.
inline uint32_t announce_parking(ParkingWord& word) {
    uint32_t seen = word.load(std::memory_order_relaxed);
    uint32_t announced;
    do announced = (seen + 2) | somebody_parked;
    while (!word.compare_exchange_weak(seen, announced, std::memory_order_seq_cst, std::memory_order_relaxed));
    return announced;
}

enum class Wake { one, all };

// The rest of wake_parked, once somebody may sleep.
inline void really_wake_parked(ParkingWord& word, uint32_t seen, Wake whom) {
    // One was asleep and is woken: others may be, so the bit stays.
    if (whom == Wake::one && futex_wake(word, 1) == 1) return;
    // Cleared first, then all woken: who announced itself and does not sleep yet finds the word changed and looks again; who
    // announced itself after our load makes the exchange fail, keeps its bit, and its second look sees what we published. It may
    // then be another that sleeps in vain: so all are woken also when the exchange fails.
    word.compare_exchange_strong(seen, seen & ~somebody_parked, std::memory_order_seq_cst);
    futex_wake_all(word);
}

// After publishing and a full fence: wakes one or all of those who sleep.
inline void wake_parked(ParkingWord& word, Wake whom) {
    const uint32_t seen = word.load(std::memory_order_relaxed);
    if ((seen & somebody_parked) != 0) [[unlikely]]
        really_wake_parked(word, seen, whom);
}

} // namespace ipc::shared_memory
