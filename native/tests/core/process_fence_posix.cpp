// What freeing a handle needs of the kernel is asked for while the process has one thread.
#include "core/process_fence.hpp"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ipc {
namespace {

TEST(ProcessFence, IsRegisteredBeforeAnybodyFrees) {
    const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (offered < 0 || (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        GTEST_SKIP() << "this system refuses membarrier";
    // Refused to a process that has not registered.
    EXPECT_EQ(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), 0);
    fence_all_threads();
}

} // namespace
} // namespace ipc
