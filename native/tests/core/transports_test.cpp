// What every stream transport owes its users: names, time-outs, interruption, dead servers.
#include "support.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

namespace ipc {
namespace {

using test::pattern;

class StreamTransport : public testing::TestWithParam<const char*> {
  protected:
    // An address nobody has; for tcp the system chooses when it listens.
    std::string fresh_address() const {
        const std::string transport = GetParam();
        return transport + "://" + (transport == "tcp" ? "0" : test::unique_name());
    }
    bool has_name() const { return GetParam() != std::string("tcp"); }
    // Where the listener's name stands in the file system.
    static std::string path_of(const std::string& address) {
        const size_t separator = address.find("://");
        const std::string transport = address.substr(0, separator);
        const std::string name = address.substr(separator + 3);
        if (transport != "pipe") return test::private_folder() + "/" + transport + "-" + name;
        const char* temporary = std::getenv("TMPDIR");
        return (temporary != nullptr ? std::string(temporary) : "/tmp") + "/CoreFxPipe_" + name;
    }
    // A connected pair of channels.
    void connect_pair() {
        ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK) << last_error();
        Status connected = IPC_OK;
        std::string sentence;
        std::thread client([&] {
            connected = test::connect(listener_->address(), &client_);
            sentence = last_error();
        });
        EXPECT_EQ(test::accept(*listener_, &server_), IPC_OK) << last_error();
        client.join();
        ASSERT_EQ(connected, IPC_OK) << sentence;
    }

    std::unique_ptr<FrameListener> listener_;
    std::unique_ptr<FrameChannel> server_;
    std::unique_ptr<FrameChannel> client_;
};

INSTANTIATE_TEST_SUITE_P(All, StreamTransport, testing::Values("pipe", "unix", "tcp", "fifo"),
                         [](const auto& instance) { return std::string(instance.param); });

// Those with a name in the file system: all but tcp.
class NamedTransport : public StreamTransport {};

INSTANTIATE_TEST_SUITE_P(All, NamedTransport, testing::Values("pipe", "unix", "fifo"),
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

TEST_P(StreamTransport, TheNameGoesWithTheListenerAndNotEarlier) {
    connect_pair();
    if (has_name()) {
        EXPECT_TRUE(test::exists(path_of(listener_->address())));
    }
    listener_->close();
    if (has_name()) {
        EXPECT_FALSE(test::exists(path_of(listener_->address())));
    }
    EXPECT_EQ(test::connect(listener_->address(), &client_), IPC_NO_SERVER);
    EXPECT_EQ(test::accept(*listener_, &server_, 0), IPC_CLOSED);
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
    // A busy machine may keep a thread waiting for its processor; not three times in a row.
    int64_t quickest_ms = INT64_MAX;
    for (int round = 0; round < 3; ++round) {
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
        quickest_ms = std::min(quickest_ms, stopwatch.ms());
        for (const Status result : results) EXPECT_EQ(result, IPC_CLOSED);
    }
    EXPECT_LT(quickest_ms, 100);
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

// A process that listens at an address, if asked accepts one client, and is then killed.
std::unique_ptr<test::Child> serving_child(const std::string& address, bool accepts) {
    return std::make_unique<test::Child>([&] {
        auto* listener = new std::unique_ptr<FrameListener>;
        auto* channel = new std::unique_ptr<FrameChannel>;
        if (test::listen(address, listener) != IPC_OK) return false;
        if (accepts) std::thread([=] { test::accept(**listener, channel, test::forever); }).detach();
        return true;
    });
}

TEST_P(NamedTransport, ClientRemovesTheNameOfADeadServer) {
    const std::string address = fresh_address();
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    child->end();
    ASSERT_TRUE(test::exists(path_of(address)));
    EXPECT_EQ(test::connect(address, &client_), IPC_NO_SERVER);
    EXPECT_FALSE(test::exists(path_of(address)));
}

TEST_P(NamedTransport, ListenerTakesOverTheNameOfADeadServer) {
    const std::string address = fresh_address();
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    child->end();
    ASSERT_TRUE(test::exists(path_of(address)));
    EXPECT_EQ(test::listen(address, &listener_), IPC_OK) << last_error();
    listener_->close();
    EXPECT_FALSE(test::exists(path_of(address)));
}

TEST_P(NamedTransport, ClientThatLosesItsServerRemovesItsName) {
    for (int round = 0; round < 10; ++round) {
        const std::string address = fresh_address();
        const auto child = serving_child(address, true);
        ASSERT_TRUE(child->ready());
        ASSERT_EQ(test::connect(address, &client_), IPC_OK) << last_error();
        Status status = IPC_OK;
        std::thread receiver([&] {
            FrameInfo info{};
            status = client_->next(&info, Deadline(test::forever));
        });
        child->end();
        receiver.join();
        EXPECT_EQ(status, IPC_PEER_CLOSED);
        EXPECT_FALSE(test::exists(path_of(address)));
    }
}

TEST_P(StreamTransport, ServerNoticesAKilledClient) {
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    const std::string address = listener_->address();
    std::thread acceptor([&] { EXPECT_EQ(test::accept(*listener_, &server_), IPC_OK) << last_error(); });
    test::Child child([&] { return test::connect(address, new std::unique_ptr<FrameChannel>) == IPC_OK; });
    acceptor.join();
    ASSERT_TRUE(child.ready());
    Status status = IPC_OK;
    std::thread receiver([&] {
        FrameInfo info{};
        status = server_->next(&info, Deadline(test::forever));
    });
    child.end();
    receiver.join();
    EXPECT_EQ(status, IPC_PEER_CLOSED);
}

TEST_P(NamedTransport, NamesThatAreNoPlainNamesAreRefused) {
    for (const std::string name : {"../escape", ".hidden", "a/b", "a b"}) {
        const std::string address = std::string(GetParam()) + "://" + name;
        EXPECT_EQ(test::listen(address, &listener_), IPC_BAD_ADDRESS) << address;
        EXPECT_EQ(test::connect(address, &client_), IPC_BAD_ADDRESS) << address;
    }
}

TEST_P(NamedTransport, WhatIsNotOursIsLeftAlone) {
    const std::string address = fresh_address();
    const std::string path = path_of(address);
    // The folder exists once somebody has listened.
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);

    // A plain file.
    ::close(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    EXPECT_EQ(test::listen(address, &listener_), IPC_NAME_IN_USE);
    EXPECT_NE(test::connect(address, &client_), IPC_OK);
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());

    // A link to a server that would answer.
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    ASSERT_EQ(symlink(path_of(listener_->address()).c_str(), path.c_str()), 0);
    std::unique_ptr<FrameListener> second;
    EXPECT_EQ(test::listen(address, &second), IPC_NAME_IN_USE) << last_error();
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());
}

TEST_P(NamedTransport, AnotherUsersNameIsLeftAlone) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
    const std::string address = fresh_address();
    const std::string path = path_of(address);
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    child->end();
    // Dead as it is, it is not ours to remove.
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    EXPECT_EQ(test::listen(address, &listener_), IPC_NO_PERMISSION) << last_error();
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());
}

} // namespace
} // namespace ipc
