#include "segment_pair.hpp"

#include <ctime>
#include <gtest/gtest.h>
#include <sys/socket.h>

void connect_pair(ipc::shared_memory::Connection ends[2]) {
    EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
}

long long thread_time_us() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000LL + used.tv_nsec / 1000;
}
