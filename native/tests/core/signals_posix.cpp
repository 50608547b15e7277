#include "frame_stream_fixture.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace ipc {
namespace {

class Signals : public test::FrameStreamFixture {};

INSTANTIATE_TEST_SUITE_P(Streams, Signals, testing::ValuesIn(test::stream_kinds()), test::kind_name);

TEST_P(Signals, ReachTheProgramFromNoStream) {
    struct sigaction before {};
    struct sigaction deadly {};
    deadly.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &deadly, &before);
    hang_up();
    EXPECT_EQ(test::send(*channel_, test::pattern(100)), IPC_PEER_CLOSED);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
    sigaction(SIGPIPE, &before, nullptr);
}

} // namespace
} // namespace ipc
