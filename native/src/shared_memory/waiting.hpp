#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"

#include <atomic>
#include <cstdint>
#if defined(_MSC_VER)
#    include <intrin.h>
#endif

// What everything that waits in shared memory is made of: options, spinning, sleeping on a word of the mapping. The
// system-dependent halves (processors, sleeping and waking) are waiting_posix.cpp and waiting_win32.cpp.
namespace ipc::shared_memory {

// A clock read costs as much as several spin iterations and is blind meanwhile: it comes after a run of spin iterations.
inline constexpr int spin_iterations = 100;
// From then on a spinner lets others run between two such runs: whoever is waited for may need this very processor.
inline constexpr int64_t yield_after_ns = 100'000;
// The longest sleep: a process killed before it could wake us is noticed between two slices.
inline constexpr int64_t sleep_slice_ns = 50'000'000;

enum class WaitMode { spin, adaptive, block };

// This process may use one processor only: spinning would keep whoever is waited for from running, unless it has another. As
// it was when the library was loaded, as .NET counts at its start: a thread that pins itself later changes nothing.
bool only_one_processor();
#if !defined(_WIN32)
// Whether this thread and the peer's process have one and the same single processor between them, so that only one of the
// two can run at a time. False when the peer cannot be asked.
bool one_processor_with(int peer);
#endif

// How this side waits, from the address's options wait= and spin=.
struct WaitPolicy {
    WaitMode mode;
    int64_t spin_ns; // adaptive: park after this long
    // Whoever is waited for can only run when this side lets go of the processor.
    bool one_processor = only_one_processor();

    // The same, but with one processor adaptive parks at once.
    WaitPolicy park_on_one_processor() const {
        return {one_processor && mode == WaitMode::adaptive ? WaitMode::block : mode, spin_ns, one_processor};
    }
};
WaitPolicy wait_policy(const Address& address);

// How long an adaptive waiter spins before it parks: all of `spin_ns` while that finds what it waits for; half, down to a
// sixteenth, each time it was in vain, because then messages come too seldom for spinning to gain anything; and now and
// then all of it again, to see whether they have become more frequent. One per waiting thread.
class SpinBudget {
  public:
    int64_t next_ns(int64_t spin_ns) { return ++waits_ % probe_every == 0 ? spin_ns : spin_ns >> misses_; }
    void found() { misses_ = 0; }
    void in_vain() {
        if (misses_ < 4) ++misses_;
    }

  private:
    static constexpr unsigned probe_every = 16;
    unsigned waits_ = 0;
    int misses_ = 0;
};

// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#elif defined(_M_X64) || defined(_M_IX86)
    _mm_pause();
#elif defined(_M_ARM64)
    __yield();
#endif
}

inline int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Deadline::Clock::now().time_since_epoch()).count();
}

// Milliseconds since some moment, some ten of them wrong, at a fraction of what now_ns() costs.
int64_t coarse_now_ms();

// Lets others run on this processor.
void yield_processor();

// Sleeps while the word is `value`, until woken or for no reason, at most so long; the word may be in memory that other
// processes map, and that this one may only read. False if it slept the whole time.
bool futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t at_most_ns);
// Wakes up to `count` sleepers and returns how many there were.
int futex_wake(const std::atomic<uint32_t>& word, int count);
void futex_wake_all(const std::atomic<uint32_t>& word);

} // namespace ipc::shared_memory
