#include "transports/ring/memory.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ipc::ring {

void wake_one(std::atomic<uint32_t>& parked) {
    // std::atomic<uint32_t> has the representation of uint32_t (layout.hpp asserts it lock-free), which the kernel works on.
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&parked), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

} // namespace ipc::ring
