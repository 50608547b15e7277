#include "shared_memory/futex.hpp"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ipc::shared_memory {

// std::atomic<uint32_t> has the representation of uint32_t (layout.hpp asserts it lock-free), which the kernel works on.

Slept futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds) {
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
    return result != 0 && errno == ETIMEDOUT ? Slept::whole_time : Slept::woken;
}

void futex_wake_all(const std::atomic<uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace ipc::shared_memory
