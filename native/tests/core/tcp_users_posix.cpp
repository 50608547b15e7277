#include "support.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <thread>

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

// Between accepting a client and asking whose it is, a server may stand still for as long as it likes.
TEST(Tcp, AClientThatHasOnlySentStaysUntilItsOwnerIsKnown) {
    const posix::Descriptor listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof place;
    ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&place), length), 0);
    ASSERT_EQ(listen(listening.get(), 1), 0);
    ASSERT_EQ(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&place), &length), 0);

    std::unique_ptr<FrameChannel> client;
    ASSERT_EQ(test::connect("tcp://" + std::to_string(ntohs(place.sin_port)), &client), IPC_OK) << last_error();
    EXPECT_EQ(test::send(*client, test::pattern(100)), IPC_OK) << last_error();
    const posix::Descriptor accepted(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(accepted);

    std::atomic<bool> gone = false;
    std::thread leaving([&] {
        client.reset();
        gone = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(gone) << "the client's socket was closed before the server could know whose it was";
    const int on = 1;
    EXPECT_EQ(setsockopt(accepted.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on), 0);
    leaving.join();
}

} // namespace
} // namespace ipc
