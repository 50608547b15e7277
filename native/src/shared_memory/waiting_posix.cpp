#include "shared_memory/waiting.hpp"

#include <array>
#include <bit>
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

// As many as the kernel can be built for.
using ProcessorMask = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

// Of one thread, by its number; 0 is the one that asks.
bool allowed_processors(pid_t thread, ProcessorMask* mask) {
    return sched_getaffinity(thread, sizeof *mask, reinterpret_cast<cpu_set_t*>(mask)) == 0;
}

bool starts_with_one() {
    ProcessorMask mask{};
    if (!allowed_processors(getpid(), &mask)) return sysconf(_SC_NPROCESSORS_ONLN) == 1;
    int count = 0;
    for (const unsigned long word : mask) count += std::popcount(word);
    return count == 1;
}

const bool one_from_the_start = starts_with_one();

} // namespace

int64_t coarse_now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

bool only_one_processor() {
    return one_from_the_start;
}

bool one_processor_with(int peer) {
    ProcessorMask own{}, theirs{};
    if (peer <= 0 || !allowed_processors(0, &own) || !allowed_processors(peer, &theirs)) return false;
    int together = 0;
    for (size_t i = 0; i < own.size(); ++i) together += std::popcount(own[i] | theirs[i]);
    return together == 1;
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
