// A peer in another process that stops or dies at the worst moment: no call outlasts its time-out, and its end is noticed.
#include "peer_process.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

using namespace lifetime;

namespace {

// Polls, of which a busy machine can make any single one late.
constexpr int64_t stopped_grace_ms = 60;

class StoppedPeer : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        server_ = std::make_unique<PeerProcess>(GetParam(), PeerProcess::Does::replies);
        channel_ = server_->channel();
        ASSERT_NE(channel_, nullptr);
    }
    void TearDown() override { server_.reset(); }

    ipc_status call(size_t capacity, int32_t timeout_ms) {
        return ipc_call(channel_, "?", 1, reply_.data(), capacity, &length_, timeout_ms);
    }
    // A reply of which only the beginning has come, when its sender stops. shm-event has no such thing: its replies come whole.
    void stop_within_a_reply() {
        ASSERT_EQ(call(1, patience_ms), IPC_BUFFER_TOO_SMALL) << ipc_last_error();
        ASSERT_EQ(length_, large);
        server_->stop();
    }

    std::unique_ptr<PeerProcess> server_;
    ipc_channel* channel_ = nullptr;
    std::vector<char> reply_ = std::vector<char>(large);
    size_t length_ = 0;
};

// Seen 3. That none of these lasts too long is in deadlines_posix.cpp.
TEST_P(StoppedPeer, EveryCallAfterAReplyThatStopsTimesOut) {
    stop_within_a_reply();
    if (GetParam() != "shm-event") {
        for (const int32_t timeout_ms : {0, 50}) {
            EXPECT_EQ(ipc_receive_reply(channel_, reply_.data(), large, &length_, timeout_ms), IPC_TIMED_OUT);
        }
    }
    EXPECT_EQ(call(large, 50), IPC_TIMED_OUT); // drops the kept reply
    const void* in_place = nullptr;
    EXPECT_EQ(ipc_call_peek(channel_, "?", 1, &in_place, &length_, 50), IPC_TIMED_OUT);
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_TIMED_OUT);
    EXPECT_EQ(ipc_peek(channel_, &in_place, &length_, 0), IPC_TIMED_OUT);
    ipc_channel_close(channel_);
    EXPECT_EQ(ipc_peek(channel_, &in_place, &length_, 0), IPC_CLOSED);
}

TEST_P(StoppedPeer, WhatWasDroppedHalfWayIsPassedOverLater) {
    stop_within_a_reply();
    const ipc_status status = call(large, 20); // drops the kept reply, and times out itself
    EXPECT_EQ(status, IPC_TIMED_OUT);
    server_->go_on();
    EXPECT_EQ(call(large, patience_ms), IPC_OK) << ipc_last_error();
    EXPECT_EQ(length_, large);
    EXPECT_EQ(call(1, patience_ms), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(ipc_receive_reply(channel_, reply_.data(), large, &length_, patience_ms), IPC_OK) << ipc_last_error();
}

// Seen 10: the first failure is repeated by both halves.
TEST_P(StoppedPeer, AMessageCutByDeathStaysTruncated) {
    if (GetParam() == "shm-event") return; // its messages come whole
    stop_within_a_reply();
    server_->kill_it();
    EXPECT_EQ(ipc_receive_reply(channel_, reply_.data(), large, &length_, patience_ms), IPC_TRUNCATED);
    const std::string error_message = ipc_last_error();
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_TRUNCATED);
    EXPECT_EQ(ipc_last_error(), error_message);
    EXPECT_EQ(ipc_send(channel_, "x", 1, 0), IPC_TRUNCATED);
    EXPECT_EQ(call(large, 0), IPC_TRUNCATED);
    EXPECT_EQ(ipc_last_error(), error_message);
}

// Seen 6 and 10: polling notices a killed peer, says where and what to do, and is not held up by who took the name.
TEST_P(StoppedPeer, PollingNoticesDeathInTime) {
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_TIMED_OUT);
    server_->kill_it();
    ipc_listener* successor = nullptr;
    if (GetParam() != "tcp") {
        EXPECT_EQ(ipc_listen(server_->address().c_str(), &successor), IPC_OK) << ipc_last_error();
    }
    const Stopwatch polling;
    int64_t longest_ms = 0;
    ipc_status status = IPC_TIMED_OUT;
    while (status == IPC_TIMED_OUT && polling.ms() < 3000) {
        const Stopwatch once;
        status = ipc_receive(channel_, reply_.data(), large, &length_, 0);
        longest_ms = std::max(longest_ms, once.ms());
    }
    EXPECT_EQ(status, IPC_PEER_CLOSED) << ipc_last_error();
    EXPECT_LE(polling.ms(), 2000);
    EXPECT_LE(longest_ms, stopped_grace_ms);
    const std::string error_message = ipc_last_error();
    if (GetParam().starts_with("shm")) {
        EXPECT_NE(error_message.find(server_->address().substr(0, server_->address().find('?'))), std::string::npos)
            << error_message;
        EXPECT_NE(error_message.find("reconnect"), std::string::npos) << error_message;
    }
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_PEER_CLOSED);
    EXPECT_EQ(ipc_last_error(), error_message);
    ipc_listener_free(successor);
}

// Over loopback the system is not asked to give a connection up whose reader takes nothing for long (TCP_USER_TIMEOUT): after 25 s it broke
// that of a reader that had been stopped, and what lay in it was lost.
TEST(StoppedReader, KeepsItsConnectionOverLoopback) {
    PeerProcess server("tcp", PeerProcess::Does::replies);
    intptr_t connection = -1;
    ASSERT_NE(server.channel(), nullptr);
    ASSERT_EQ(ipc_channel_fd(server.channel(), &connection), IPC_OK);
    unsigned given_up_ms = 1;
    socklen_t length = sizeof given_up_ms;
    ASSERT_EQ(getsockopt(static_cast<int>(connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &given_up_ms, &length), 0);
    EXPECT_EQ(given_up_ms, 0u);
}

INSTANTIATE_TEST_SUITE_P(Channels, StoppedPeer, testing::ValuesIn(of_our_own()), name_of);

} // namespace
