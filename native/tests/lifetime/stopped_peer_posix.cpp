// A peer in another process that stops or dies at the worst moment: no call outlasts its time-out, and its end is noticed.
#include "support.hpp"

#include <csignal>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

using namespace lifetime;

namespace {

constexpr size_t large = 32 << 20; // more than any transport keeps on the way
// No call may outlast its time-out by more than 20 ms. A machine that runs other things gets some more from the test.
constexpr int64_t grace_ms = 60;

// A server in a process of its own, forked before this one has any handle or thread. It answers each request with `large`
// bytes, or, after the request "send", sends a plain message of as many.
class ServerProcess {
  public:
    explicit ServerProcess(const std::string& address) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        pid_ = fork();
        if (pid_ == 0) serve(address, ends[1]);
        close(ends[1]);
        char text[256] = {};
        EXPECT_GT(read(ends[0], text, sizeof text - 1), 0);
        close(ends[0]);
        address_ = text;
    }
    ~ServerProcess() { kill_it(); }
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;

    const std::string& address() const { return address_; }
    void stop() const {
        kill(pid_, SIGSTOP);
        int state = 0;
        waitpid(pid_, &state, WUNTRACED);
    }
    void go_on() const { kill(pid_, SIGCONT); }
    void kill_it() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    [[noreturn]] static void serve(const std::string& address, int told) {
        ipc_listener* listener = nullptr;
        ipc_channel* channel = nullptr;
        if (ipc_listen(address.c_str(), &listener) != IPC_OK) _exit(1);
        const std::string at = ipc_listener_address(listener);
        if (write(told, at.data(), at.size()) < 0) _exit(1);
        close(told);
        if (ipc_accept(listener, patience_ms, &channel) != IPC_OK) _exit(2);
        const std::vector<char> bytes(large, 'l');
        const void* request = nullptr;
        size_t length = 0;
        while (ipc_receive_request(channel, &request, &length, patience_ms) == IPC_OK) {
            const bool only_send = length == 4;
            if (ipc_reply(channel, bytes.data(), only_send ? 1 : bytes.size(), patience_ms) != IPC_OK) break;
            if (only_send) ipc_send(channel, bytes.data(), bytes.size(), patience_ms);
        }
        _exit(0);
    }

    pid_t pid_ = 0;
    std::string address_;
};

class StoppedPeer : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        std::string address = address_of(GetParam());
        const bool has_options = address.find('?') != std::string::npos;
        if (GetParam() == "shm-event")
            address = address.substr(0, address.find('?'));
        else if (has_options)
            address += "&max=64M";
        server_ = std::make_unique<ServerProcess>(address);
        ASSERT_EQ(ipc_connect(server_->address().c_str(), patience_ms, &channel_), IPC_OK) << ipc_last_error();
    }
    void TearDown() override {
        ipc_channel_free(channel_);
        server_->kill_it();
        // Whoever tries to connect clears the dead server's name away.
        ipc_channel* nobody = nullptr;
        EXPECT_NE(ipc_connect(server_->address().c_str(), 0, &nobody), IPC_OK);
        ipc_channel_free(nobody);
    }

    ipc_status call(size_t capacity, int32_t timeout_ms) {
        return ipc_call(channel_, "?", 1, reply_.data(), capacity, &length_, timeout_ms);
    }
    // A reply of which only the beginning has come, when its sender stops. shm-event has no such thing: its replies come whole.
    void stop_within_a_reply() {
        ASSERT_EQ(call(1, patience_ms), IPC_BUFFER_TOO_SMALL) << ipc_last_error();
        ASSERT_EQ(length_, large);
        server_->stop();
    }

    std::unique_ptr<ServerProcess> server_;
    ipc_channel* channel_ = nullptr;
    std::vector<char> reply_ = std::vector<char>(large);
    size_t length_ = 0;
};

// Seen 3.
TEST_P(StoppedPeer, NoCallOutlastsItsTimeOut) {
    stop_within_a_reply();
    const bool whole = GetParam() == "shm-event";
    for (const int32_t timeout_ms : {0, 50}) {
        const Stopwatch receiving;
        if (!whole) {
            EXPECT_EQ(ipc_receive_reply(channel_, reply_.data(), large, &length_, timeout_ms), IPC_TIMED_OUT);
        }
        EXPECT_LE(receiving.ms(), timeout_ms + grace_ms);
    }
    const Stopwatch calling;
    EXPECT_EQ(call(large, 50), IPC_TIMED_OUT); // drops the kept reply
    EXPECT_LE(calling.ms(), 50 + grace_ms);
    const void* in_place = nullptr;
    const Stopwatch peeking;
    EXPECT_EQ(ipc_call_peek(channel_, "?", 1, &in_place, &length_, 50), IPC_TIMED_OUT);
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_TIMED_OUT);
    EXPECT_EQ(ipc_peek(channel_, &in_place, &length_, 0), IPC_TIMED_OUT);
    EXPECT_LE(peeking.ms(), 50 + grace_ms);
    const Stopwatch ending;
    ipc_channel_close(channel_);
    EXPECT_LE(ending.ms(), grace_ms);
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
    const std::string sentence = ipc_last_error();
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_TRUNCATED);
    EXPECT_EQ(ipc_last_error(), sentence);
    EXPECT_EQ(ipc_send(channel_, "x", 1, 0), IPC_TRUNCATED);
    EXPECT_EQ(call(large, 0), IPC_TRUNCATED);
    EXPECT_EQ(ipc_last_error(), sentence);
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
    EXPECT_LE(longest_ms, grace_ms);
    const std::string sentence = ipc_last_error();
    if (GetParam().starts_with("shm")) {
        EXPECT_NE(sentence.find(server_->address().substr(0, server_->address().find('?'))), std::string::npos)
            << sentence;
        EXPECT_NE(sentence.find("reconnect"), std::string::npos) << sentence;
    }
    EXPECT_EQ(ipc_receive(channel_, reply_.data(), large, &length_, 0), IPC_PEER_CLOSED);
    EXPECT_EQ(ipc_last_error(), sentence);
    ipc_listener_free(successor);
}

// Foreign libraries do not outlive a fork.
std::vector<std::string> of_our_own() {
    std::vector<std::string> all = transports("channel");
    std::erase_if(all, [](const std::string& id) { return id == "iceoryx" || id == "boost-mq"; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Channels, StoppedPeer, testing::ValuesIn(of_our_own()), name_of);

} // namespace
