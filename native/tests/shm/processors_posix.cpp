#include "segment_pair.hpp"
#include "shared_memory/waiting.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ipc::shared_memory;

namespace {

cpu_set_t first_of(const cpu_set_t& allowed) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    return one;
}

} // namespace

// The processes of `taskset -c 0` are such: the machine has more processors, and they may use one.
TEST(Processors, DISABLED_OfAProcessWithOne) {
    EXPECT_TRUE(only_one_processor());
    EXPECT_TRUE(one_processor_with(getpid()));
    EXPECT_EQ(WaitMode::block, (WaitPolicy{WaitMode::adaptive, 50'000}.park_on_one_processor().mode));
    EXPECT_EQ(WaitMode::spin, (WaitPolicy{WaitMode::spin, 50'000}.park_on_one_processor().mode));
    const ChannelPair pair = make_channel_pair({.slots = 4, .data_bytes = 4096, .wait = WaitMode::adaptive});
    EXPECT_NE(nullptr, pair.server);
}

TEST(Processors, ThoseThatTheProcessMayUseAreCounted) {
    cpu_set_t allowed;
    ASSERT_EQ(0, sched_getaffinity(0, sizeof allowed, &allowed));
    EXPECT_EQ(CPU_COUNT(&allowed) == 1, only_one_processor());
    EXPECT_EQ(CPU_COUNT(&allowed) == 1, one_processor_with(getpid()));
    const cpu_set_t one = first_of(allowed);
    const pid_t child = fork();
    if (child == 0) {
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            execl("/proc/self/exe", "shm_tests", "--gtest_filter=Processors.DISABLED_OfAProcessWithOne",
                  "--gtest_also_run_disabled_tests", nullptr);
        _exit(100);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Processors, AThreadThatPinsItselfLaterChangesNothing) {
    cpu_set_t allowed;
    ASSERT_EQ(0, sched_getaffinity(0, sizeof allowed, &allowed));
    const bool before = only_one_processor();
    const cpu_set_t one = first_of(allowed);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    EXPECT_EQ(before, only_one_processor());
    EXPECT_TRUE(one_processor_with(getpid())); // of what a peer may use now
    ASSERT_EQ(0, sched_setaffinity(0, sizeof allowed, &allowed));
}

TEST(Processors, APeerThatCannotBeAskedHasOthers) {
    EXPECT_FALSE(one_processor_with(0));
    EXPECT_FALSE(one_processor_with(-1));
}
