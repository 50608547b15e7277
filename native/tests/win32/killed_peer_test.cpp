// A peer killed outright: the survivor learns of it, and nothing is left behind.
#include "child_process.hpp"
#include "stream_support.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace ipc::win32 {
namespace {

using test::Listening;
using Clock = std::chrono::steady_clock;

// Not a test: what the processes below do that are killed.
TEST(KilledPeer, DISABLED_Serves) {
    ipc_listener* listener = nullptr;
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_listen(child_parameter().c_str(), &listener), IPC_OK) << last_error();
    ASSERT_EQ(ipc_accept(listener, 20'000, &channel), IPC_OK) << last_error();
    Sleep(60'000);
}

TEST(KilledPeer, DISABLED_Connects) {
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_connect(child_parameter().c_str(), 20'000, &channel), IPC_OK) << last_error();
    Sleep(60'000);
}

// Where a server can listen: with tcp a port that was free a moment ago.
std::string free_address(const std::string& transport) {
    if (transport == "tcp") return Listening(transport).address();
    const size_t question = transport.find('?');
    return "pipe://" + test::unique_name() + (question == std::string::npos ? "" : transport.substr(question));
}

class KilledPeer : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Streams, KilledPeer, testing::Values("pipe", "pipe?mode=message", "tcp"), [](const auto& one) {
    const std::string text = one.param;
    return text.substr(0, text.find('?')) + (text.find('?') == std::string::npos ? "" : "_message");
});

TEST_P(KilledPeer, TheServerNoticesWhileItWaits) {
    Listening server(GetParam());
    ASSERT_TRUE(server) << last_error();
    ChildProcess child("KilledPeer.DISABLED_Connects", server.address());
    ipc_channel* channel = nullptr;
    for (int attempt = 0; attempt < 4 && channel == nullptr; ++attempt) channel = server.accept();
    ASSERT_NE(channel, nullptr) << last_error();
    char buffer[16];
    size_t length = 0;
    EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 50), IPC_TIMED_OUT) << last_error();
    const auto start = Clock::now();
    child.kill();
    EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 20'000), IPC_PEER_CLOSED) << last_error();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    ipc_channel_free(channel);
}

TEST_P(KilledPeer, TheClientNoticesInACallAndTheNameIsFree) {
    const std::string address = free_address(GetParam());
    ChildProcess child("KilledPeer.DISABLED_Serves", address);
    ipc_channel* channel = nullptr;
    const auto patience = Clock::now() + std::chrono::seconds(20);
    while (channel == nullptr && Clock::now() < patience)
        if (ipc_connect(address.c_str(), 1000, &channel) != IPC_OK) Sleep(20);
    ASSERT_NE(channel, nullptr) << last_error();
    const std::vector<char> request(1'000'000);
    char reply[16];
    size_t length = 0;
    // Nobody reads: the call is on its way out when the server dies.
    std::thread killer([&] {
        Sleep(200);
        child.kill();
    });
    const auto start = Clock::now();
    EXPECT_EQ(ipc_call(channel, request.data(), request.size(), reply, sizeof reply, &length, 20'000), IPC_PEER_CLOSED)
        << last_error();
    EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(2200));
    killer.join();
    ipc_channel_free(channel);
    channel = nullptr;
    EXPECT_EQ(ipc_connect(address.c_str(), 5000, &channel), IPC_NO_SERVER) << last_error();
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << last_error();
    ipc_listener_free(listener);
}

} // namespace
} // namespace ipc::win32
