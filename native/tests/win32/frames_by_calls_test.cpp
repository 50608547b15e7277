// Transports whose every frame travels in a call that ends when it is taken (`wm-copydata`, `com`): limits, waiting, time-outs, names.
#include "core/session_over.hpp"
#include "support.hpp"

namespace ipc {
namespace {

class FramesByCalls : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        address_ = GetParam();
        address_.replace(address_.find('*'), 1, test::unique_name());
        ASSERT_EQ(test::listen(address_, &listener_), IPC_OK) << last_error();
    }
    std::string with(const char* option) const {
        return address_ + (address_.find('?') == std::string::npos ? '?' : '&') + option;
    }

    std::string address_;
    std::unique_ptr<FrameListener> listener_;
};

INSTANTIATE_TEST_SUITE_P(
    , FramesByCalls, testing::Values("wm-copydata://*", "com://*?apartment=mta", "com://*?apartment=sta"),
    [](const auto& instance) {
        return std::string(instance.index == 0 ? "wm_copydata" : instance.index == 1 ? "com_mta" : "com_sta");
    });

TEST_P(FramesByCalls, AMessageOverTheLimitEndsTheSession) {
    listener_.reset();
    ASSERT_EQ(test::listen(with("max=1k"), &listener_), IPC_OK) << last_error();
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    std::thread connecting([&] { EXPECT_EQ(test::connect(address_, &client), IPC_OK) << last_error(); });
    ASSERT_EQ(test::accept(*listener_, &server), IPC_OK) << last_error();
    connecting.join();
    const auto long_one = test::pattern(5'000'000);
    EXPECT_EQ(client->send(FrameKind::message, 0, long_one.data(), long_one.size(), Deadline(5000)), IPC_PEER_CLOSED)
        << last_error();
    FrameInfo info{};
    EXPECT_EQ(server->next(&info, Deadline(1000)), IPC_PEER_TOO_LARGE) << last_error();
    server.reset();
    client.reset();
    listener_.reset();
    ASSERT_EQ(test::listen(address_, &listener_), IPC_OK) << last_error();
    test::expect_serves(*listener_);
}

TEST_P(FramesByCalls, AClientThatWaitsHoldsNoOtherUp) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    std::thread waiting([&] {
        EXPECT_EQ(client->send(FrameKind::message, 0, "x", 1, Deadline(IPC_FOREVER)), IPC_CLOSED) << last_error();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    test::expect_serves(*listener_);
    const test::Stopwatch watch;
    client->close();
    waiting.join();
    EXPECT_LT(watch.ms(), 2000);
}

TEST_P(FramesByCalls, ATimedOutCallsLateAnswerIsDropped) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    const auto caller = std::make_unique<SessionOver<FrameChannel>>(std::move(client));
    const auto answerer = std::make_unique<SessionOver<FrameChannel>>(std::move(server));
    char reply[10];
    size_t length = 0;
    EXPECT_EQ(caller->call("1", 1, reply, sizeof reply, &length, Deadline(100)), IPC_TIMED_OUT) << last_error();
    std::thread answering([&] {
        for (int i = 0; i < 2; ++i) {
            const void* request = nullptr;
            size_t size = 0;
            ASSERT_EQ(answerer->receive_request(&request, &size, Deadline(5000)), IPC_OK) << last_error();
            EXPECT_EQ(answerer->reply(request, size, Deadline(5000)), IPC_OK) << last_error();
        }
    });
    EXPECT_EQ(caller->call("22", 2, reply, sizeof reply, &length, Deadline(5000)), IPC_OK) << last_error();
    EXPECT_EQ(length, 2u);
    answering.join();
}

TEST_P(FramesByCalls, ClosingTheServersChannelEndsAWaitingCall) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    std::thread closing([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        server.reset();
    });
    const test::Stopwatch watch;
    EXPECT_EQ(client->send(FrameKind::request, 1, "x", 1, Deadline(IPC_FOREVER)), IPC_PEER_CLOSED) << last_error();
    EXPECT_LT(watch.ms(), 2000);
    closing.join();
}

TEST_P(FramesByCalls, OneListenerPerName) {
    std::unique_ptr<FrameListener> second;
    EXPECT_EQ(test::listen(address_, &second), IPC_NAME_IN_USE) << last_error();
    listener_->close();
    std::unique_ptr<FrameChannel> channel;
    EXPECT_EQ(test::connect(address_, &channel), IPC_NO_SERVER) << last_error();
    EXPECT_EQ(test::listen(address_, &second), IPC_OK) << last_error();
}

} // namespace
} // namespace ipc
