#include "support.hpp"

#include <gtest/gtest.h>

namespace ipc {
namespace {

TEST(Tcp, UsersAreCheckedBothWays) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can take another user's part";
    const auto become_stranger = [] { return setuid(65534) == 0; };
    // A stranger's client: dropped without disturbing the listener, and told why on its own side.
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> server;
    ASSERT_EQ(test::listen("tcp://0", &listener), IPC_OK);
    const std::string address = listener->address();
    const test::Child client([&] {
        std::unique_ptr<FrameChannel> trusting;
        std::unique_ptr<FrameChannel> careful;
        return become_stranger() &&
               test::connect(address + "?users=any", new std::unique_ptr<FrameChannel>) == IPC_OK &&
               test::connect(address, &careful) == IPC_NO_PERMISSION;
    });
    EXPECT_TRUE(client.ready());
    EXPECT_EQ(test::accept(*listener, &server, 100), IPC_TIMED_OUT);
    // With users=any the same client is welcome.
    ASSERT_EQ(test::listen("tcp://0?users=any", &listener), IPC_OK);
    const std::string open_address = listener->address();
    const test::Child welcome(
        [&] { return become_stranger() && test::connect(open_address, new std::unique_ptr<FrameChannel>) == IPC_OK; });
    EXPECT_TRUE(welcome.ready());
    EXPECT_EQ(test::accept(*listener, &server), IPC_OK) << last_error();
}

} // namespace
} // namespace ipc
