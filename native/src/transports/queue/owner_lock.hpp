#pragma once

#include "core/deadline.hpp"
#include "shared_memory/waiting.hpp"
#include "transports/queue/queue_file.hpp"

#include <atomic>

namespace ipc::queue {

// A lock in shared memory that a dead holder does not keep: the word names its holder, and a waiter that finds the holder dead
// takes the lock over. What the lock guards must be sound at every instant, for nothing is told of where the holder died.
class OwnerLock {
  public:
    OwnerLock(std::atomic<uint32_t>& word, const QueueFile& file)
        : word_(word), file_(file), mine_(file.participant() << 1) {}

    // IPC_TIMED_OUT: somebody alive (stopped, or starved of processor) kept it for the whole time-out and not less than
    // 10 ms: "0 does not wait" is about messages and room, not about a neighbour's few nanoseconds.
    Status take(const Deadline& deadline, const std::atomic<bool>& closed) {
        uint32_t free = 0;
        // Acquire: pairs with the release in give_back; what earlier holders did is seen.
        if (word_.compare_exchange_strong(free, mine_, std::memory_order_acquire, std::memory_order_relaxed)) [[likely]]
            return IPC_OK;
        return take_slowly(deadline, closed);
    }

    // A full fence as well: what is loaded afterwards is loaded after everything stored before is visible.
    void give_back() {
#if defined(__x86_64__) || defined(__i386__)
        // Any locked instruction is the fence; a second one would cost as much as the lock.
        const uint32_t word = word_.exchange(0, std::memory_order_seq_cst);
        std::atomic_signal_fence(std::memory_order_seq_cst);
#else
        const uint32_t word = word_.exchange(0, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
        if ((word & somebody_sleeps) != 0) [[unlikely]]
            shared_memory::futex_wake(word_, 1);
    }

  private:
    static constexpr uint32_t somebody_sleeps = 1;

    Status take_slowly(const Deadline& deadline, const std::atomic<bool>& closed);
    bool spin();

    std::atomic<uint32_t>& word_;
    const QueueFile& file_;
    uint32_t mine_;
};

} // namespace ipc::queue
