// What every stream transport owes its users: names, time-outs, interruption, dead servers.
#include "transport_fixture.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace ipc {
namespace {

using test::pattern;
using test::StreamTransport;

INSTANTIATE_TEST_SUITE_P(All, StreamTransport, testing::ValuesIn(test::stream_transports()),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(StreamTransport, CarriesMessagesOfEverySizeBothWays) {
    connect_pair();
    for (const size_t length : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}, size_t{70000}, size_t{3000000}}) {
        std::vector<std::byte> there;
        std::vector<std::byte> back;
        std::thread server([&] {
            EXPECT_EQ(test::receive(*server_, &there), IPC_OK) << last_error();
            EXPECT_EQ(test::send(*server_, there), IPC_OK) << last_error();
        });
        EXPECT_EQ(test::send(*client_, pattern(length)), IPC_OK) << last_error();
        EXPECT_EQ(test::receive(*client_, &back), IPC_OK) << last_error();
        server.join();
        EXPECT_TRUE(there == pattern(length));
        EXPECT_TRUE(back == pattern(length));
    }
}

TEST_P(StreamTransport, NobodyListens) {
    std::string address = fresh_address();
    if (!has_name()) {
        ASSERT_EQ(test::listen(address, &listener_), IPC_OK);
        address = listener_->address();
        listener_.reset();
    }
    test::Stopwatch stopwatch;
    EXPECT_EQ(test::connect(address, &client_, test::forever), IPC_NO_SERVER);
    EXPECT_LT(stopwatch.ms(), 1000);
    EXPECT_NE(std::string(last_error()).find(address), std::string::npos) << last_error();
}

TEST_P(StreamTransport, OneListenerPerName) {
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK) << last_error();
    std::unique_ptr<FrameListener> second;
    EXPECT_EQ(test::listen(listener_->address(), &second), IPC_NAME_IN_USE) << last_error();
    // The first one is none the worse for it, and sees no client that is not one.
    EXPECT_EQ(test::accept(*listener_, &server_, 50), IPC_TIMED_OUT);
    const std::string address = listener_->address();
    listener_->close();
    EXPECT_EQ(test::listen(address, &second), IPC_OK) << last_error();
}

TEST_P(StreamTransport, NobodyListensOnceTheListenerIsClosed) {
    connect_pair();
    listener_->close();
    EXPECT_EQ(test::connect(listener_->address(), &client_), IPC_NO_SERVER);
    EXPECT_EQ(test::accept(*listener_, &server_, 0), IPC_CLOSED);
}

TEST_P(StreamTransport, TheNameIsFreeOnceTheListenerIsClosed) {
    connect_pair();
    const std::string address = listener_->address();
    listener_->close();
    // The connection goes on beside the next listener's.
    std::unique_ptr<FrameChannel> other_client;
    std::unique_ptr<FrameChannel> other_server;
    ASSERT_EQ(test::listen(address, &listener_), IPC_OK) << last_error();
    std::thread acceptor([&] { EXPECT_EQ(test::accept(*listener_, &other_server), IPC_OK) << last_error(); });
    EXPECT_EQ(test::connect(address, &other_client), IPC_OK) << last_error();
    acceptor.join();
    std::vector<std::byte> arrived;
    EXPECT_EQ(test::send(*client_, pattern(10)), IPC_OK) << last_error();
    EXPECT_EQ(test::receive(*server_, &arrived), IPC_OK) << last_error();
    EXPECT_TRUE(arrived == pattern(10));
}

TEST_P(StreamTransport, ConnectionsOutliveTheirListener) {
    connect_pair();
    listener_.reset();
    std::vector<std::byte> arrived;
    EXPECT_EQ(test::send(*client_, pattern(10)), IPC_OK);
    EXPECT_EQ(test::receive(*server_, &arrived), IPC_OK);
    EXPECT_TRUE(arrived == pattern(10));
}

TEST_P(StreamTransport, AcceptTimesOut) {
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    test::Stopwatch stopwatch;
    EXPECT_EQ(test::accept(*listener_, &server_, 0), IPC_TIMED_OUT);
    EXPECT_LT(stopwatch.ms(), 1000);
    EXPECT_EQ(test::accept(*listener_, &server_, 60), IPC_TIMED_OUT);
    EXPECT_GE(stopwatch.ms(), 60);
}

TEST_P(StreamTransport, ClosingInterruptsEveryAccept) {
    constexpr int64_t promised_ms = 100;
    const auto close_under_accepts = [&](int64_t& took_ms) {
        ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
        Status results[3] = {};
        std::vector<std::thread> threads;
        for (Status& result : results)
            threads.emplace_back([&] {
                std::unique_ptr<FrameChannel> channel;
                result = test::accept(*listener_, &channel, test::forever);
            });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        test::Stopwatch stopwatch;
        listener_->close();
        for (std::thread& thread : threads) thread.join();
        took_ms = stopwatch.ms();
        for (const Status result : results) EXPECT_EQ(result, IPC_CLOSED);
    };
    EXPECT_LT(test::quickest_ms(promised_ms, close_under_accepts), promised_ms);
}

TEST_P(StreamTransport, SeveralThreadsAcceptSeveralClients) {
    constexpr int clients = 12;
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    std::atomic<int> echoed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            std::unique_ptr<FrameChannel> channel;
            std::vector<std::byte> bytes;
            for (int served = 0; served < clients / 3; ++served) {
                EXPECT_EQ(test::accept(*listener_, &channel), IPC_OK) << last_error();
                if (channel == nullptr) return;
                EXPECT_EQ(test::receive(*channel, &bytes), IPC_OK) << last_error();
                EXPECT_EQ(test::send(*channel, bytes), IPC_OK) << last_error();
            }
        });
    for (unsigned i = 0; i < clients; ++i)
        threads.emplace_back([&, i] {
            std::unique_ptr<FrameChannel> channel;
            std::vector<std::byte> bytes;
            ASSERT_EQ(test::connect(listener_->address(), &channel), IPC_OK) << last_error();
            EXPECT_EQ(test::send(*channel, pattern(1000, i)), IPC_OK);
            EXPECT_EQ(test::receive(*channel, &bytes), IPC_OK) << last_error();
            if (bytes == pattern(1000, i)) ++echoed;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(echoed, clients);
}

TEST_P(StreamTransport, ClientsThatWaitLearnThatTheListenerClosed) {
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    Status status = IPC_OK;
    std::thread client([&] {
        status = test::connect(listener_->address(), &client_, test::forever);
        FrameInfo info{};
        if (status == IPC_OK) status = client_->next(&info, Deadline(test::forever));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    listener_->close();
    client.join();
    EXPECT_TRUE(status == IPC_NO_SERVER || status == IPC_PEER_CLOSED) << status << ": " << last_error();
}

} // namespace
} // namespace ipc
