#include "transports/queue/owner_lock.hpp"

#include <algorithm>

namespace ipc::queue {
namespace {

constexpr int32_t least_patience_ms = 10;
// A holder that is gone shows in the first slice; one that merely copies a large message is not asked about.
constexpr int64_t first_slice_ns = 1'000'000;
constexpr int64_t slice_ns = 10'000'000;

} // namespace

bool OwnerLock::spin() {
    if (shared_memory::only_one_processor()) return false;
    // Longer than a short message takes to be copied, shorter than putting a thread to sleep.
    for (int iteration = 0; iteration < shared_memory::spin_iterations; ++iteration) {
        shared_memory::relax();
        uint32_t free = word_.load(std::memory_order_relaxed);
        if (free == 0 && word_.compare_exchange_weak(free, mine_, std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    }
    return false;
}

Status OwnerLock::take_slowly(const Deadline& deadline, const std::atomic<bool>& closed) {
    if (spin()) return IPC_OK;
    const Deadline least(least_patience_ms);
    uint32_t suspect = 0; // who held it during a whole slice
    int64_t slice = first_slice_ns;
    while (true) {
        uint32_t word = word_.load(std::memory_order_relaxed);
        const uint32_t holder = word >> 1;
        // A holder that is dead cannot change the word any more, and its number is given to nobody while the word names it:
        // if the exchange succeeds, it was taken from the dead one. What the dead one did is seen, because the kernel let
        // go of its byte after its last instruction and told us after that.
        if (holder == 0 || (holder == suspect && !file_.is_alive(holder))) {
            // Others may sleep; we cannot know, so we say they do.
            if (word_.compare_exchange_strong(word, mine_ | somebody_sleeps, std::memory_order_acquire,
                                              std::memory_order_relaxed))
                return IPC_OK;
            continue;
        }
        if (closed.load(std::memory_order_relaxed)) return fail(IPC_CLOSED, "this queue was closed here");
        if (deadline.expired() && least.expired())
            return fail(IPC_TIMED_OUT,
                        "another participant has kept the queue for the whole time-out: is its process stopped?");
        const uint32_t sleeping = word | somebody_sleeps;
        if (word != sleeping && !word_.compare_exchange_strong(word, sleeping, std::memory_order_relaxed)) continue;
        const int64_t left = std::max(deadline.left_ns(), least.left_ns());
        const bool woken = shared_memory::futex_wait(word_, sleeping, std::min(slice, left));
        suspect = woken ? 0 : holder;
        slice = slice_ns;
    }
}

} // namespace ipc::queue
