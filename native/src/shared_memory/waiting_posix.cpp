#include "shared_memory/waiting.hpp"

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ipc::shared_memory {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// What the call takes in 64-bit and in 32-bit processes, whatever timespec is there: two of the machine's words.
struct KernelTime {
    long seconds;
    long nanoseconds;
};

// std::atomic<uint32_t> has the representation of uint32_t, which the kernel works on.
long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const KernelTime* timeout) {
    return syscall(SYS_futex, const_cast<uint32_t*>(reinterpret_cast<const uint32_t*>(&word)), operation, value,
                   timeout, nullptr, 0);
}

} // namespace

int64_t coarse_now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

bool only_one_processor() {
    static const bool one = sysconf(_SC_NPROCESSORS_ONLN) == 1;
    return one;
}

void yield_processor() {
    sched_yield();
}

bool futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t at_most_ns) {
    const KernelTime timeout{static_cast<long>(at_most_ns / 1'000'000'000),
                             static_cast<long>(at_most_ns % 1'000'000'000)};
    return futex(word, FUTEX_WAIT, value, &timeout) == 0 || errno != ETIMEDOUT;
}

int futex_wake(const std::atomic<uint32_t>& word, int count) {
    return static_cast<int>(futex(word, FUTEX_WAKE, static_cast<uint32_t>(count), nullptr));
}

void futex_wake_all(const std::atomic<uint32_t>& word) {
    futex_wake(word, INT_MAX);
}

} // namespace ipc::shared_memory
