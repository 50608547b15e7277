// Many calls in flight on one channel: what is refused, and how they end with the channel or after a time-out.
#include "in_flight.hpp"

#include <numeric>
#include <thread>

namespace lifetime {
namespace {

TEST_P(InFlight, WhatIsNotAllowedIsSaidSo) {
    char buffer[64];
    size_t length = 0;
    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    EXPECT_EQ(ipc_complete(client_, &tag, &outcome, buffer, sizeof buffer, &length, 0), IPC_TIMED_OUT);
    EXPECT_EQ(ipc_submit(nullptr, "x", 1, 0, 0), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_submit(client_, nullptr, 1, 0, 0), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_complete(client_, nullptr, &outcome, buffer, sizeof buffer, &length, 0), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_submit(client_, buffer, ipc_channel_limit(client_) + 1, 0, 0), IPC_MESSAGE_TOO_LARGE);

    ASSERT_EQ(ipc_submit(client_, "one", 3, 1, patience_ms), IPC_OK);
    EXPECT_EQ(ipc_call(client_, "x", 1, buffer, sizeof buffer, &length, 0), IPC_WRONG_STATE);
    EXPECT_NE(std::string(ipc_last_error()).find("in flight"), std::string::npos) << ipc_last_error();
    EXPECT_EQ(ipc_receive(client_, buffer, sizeof buffer, &length, 0), IPC_WRONG_STATE);
    const void* held = nullptr;
    EXPECT_EQ(ipc_peek(client_, &held, &length, 0), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_receive_request(client_, &held, &length, 0), IPC_WRONG_STATE);

    EXPECT_EQ(ipc_defer_request(server_, &tag), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_reply_deferred(server_, 1, "x", 1, 0), IPC_WRONG_STATE);
    const auto [token, request] = take_request();
    EXPECT_EQ(request, "one");
    EXPECT_EQ(ipc_reply_deferred(server_, token + 1, "x", 1, 0), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_reply_deferred(server_, UINT64_MAX, "x", 1, 0), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_fail_deferred(server_, token, "because", patience_ms), IPC_OK) << ipc_last_error();
    EXPECT_EQ(ipc_fail_deferred(server_, token, "because", patience_ms), IPC_WRONG_STATE);
    ASSERT_EQ(ipc_complete(client_, &tag, &outcome, buffer, sizeof buffer, &length, patience_ms), IPC_OK);
    EXPECT_EQ(tag, 1u);
    EXPECT_EQ(outcome, IPC_HANDLER_FAILED);
}

// Passing over the rest of a message takes time, and a channel that is closed has none.
TEST_P(InFlight, ClosedHereIsSaidAlsoBehindAMessageOfWhichHalfHasCome) {
    const std::vector<char> large(4 << 20); // more than most transports take at once
    std::thread sending([&] { ipc_send(client_, large.data(), large.size(), patience_ms / 10); });
    char byte = 0;
    size_t length = 0;
    EXPECT_EQ(ipc_receive(server_, &byte, sizeof byte, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, large.size());
    ipc_channel_close(server_);

    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    EXPECT_EQ(ipc_complete(server_, &tag, &outcome, &byte, sizeof byte, &length, 0), IPC_CLOSED) << ipc_last_error();
    EXPECT_NE(std::string(ipc_last_error()).find("closed here"), std::string::npos) << ipc_last_error();
    sending.join();
}

TEST_P(InFlight, ClosingHereEndsEachCallOnce) {
    submit_and_put_off(20);
    Blocking blocking;
    std::vector<uint64_t> tags;
    std::thread completing([&] {
        char buffer[16];
        blocking.going_in();
        while (true) {
            uint64_t tag = 0;
            ipc_status outcome = IPC_OK;
            size_t length = 0;
            const ipc_status status =
                ipc_complete(client_, &tag, &outcome, buffer, sizeof buffer, &length, IPC_FOREVER);
            if (status != IPC_OK) {
                EXPECT_EQ(status, IPC_CLOSED) << ipc_last_error();
                return;
            }
            EXPECT_EQ(outcome, IPC_CLOSED) << ipc_last_error();
            tags.push_back(tag);
        }
    });
    blocking.await();
    ipc_channel_close(client_);
    completing.join();
    std::sort(tags.begin(), tags.end());
    std::vector<uint64_t> all(20);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(tags, all);
    EXPECT_EQ(ipc_submit(client_, "x", 1, 1, 0), IPC_CLOSED);
}

// Each end may call the other. A request that a closed channel keeps from being answered keeps nobody from being told of his own calls.
TEST_P(InFlight, ClosingWithARequestUnansweredEndsEachCallOnce) {
    ASSERT_EQ(ipc_submit(client_, "x", 1, 0, patience_ms), IPC_OK) << ipc_last_error();
    const void* request = nullptr;
    size_t length = 0;
    ASSERT_EQ(ipc_receive_request(server_, &request, &length, patience_ms), IPC_OK) << ipc_last_error();
    std::vector<uint64_t> submitted; // as many of three as there is room for; shm-event has room for one
    for (uint64_t tag = 0; tag < 3 && ipc_submit(server_, "y", 1, tag, 0) == IPC_OK; ++tag) submitted.push_back(tag);
    ASSERT_FALSE(submitted.empty()) << ipc_last_error();
    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    char buffer[16];
    EXPECT_EQ(ipc_complete(server_, &tag, &outcome, buffer, sizeof buffer, &length, 0), IPC_WRONG_STATE);
    ipc_channel_close(server_);
    std::vector<uint64_t> tags;
    while (ipc_complete(server_, &tag, &outcome, buffer, sizeof buffer, &length, patience_ms) == IPC_OK) {
        EXPECT_EQ(outcome, IPC_CLOSED) << ipc_last_error();
        tags.push_back(tag);
    }
    std::sort(tags.begin(), tags.end());
    EXPECT_EQ(tags, submitted);
}

TEST_P(InFlight, ThePeersEndComesAfterTheRepliesItSent) {
    const std::vector<uint64_t> tokens = submit_and_put_off(20);
    std::vector<uint64_t> tags;
    size_t good = 0;
    std::string reply;
    for (int i = 0; i < 20; ++i) {
        // One after another: the simplest transport holds one message at a time.
        if (i < 5)
            ASSERT_EQ(ipc_reply_deferred(server_, tokens[19 - static_cast<size_t>(i)], "y", 1, patience_ms), IPC_OK);
        else
            ipc_channel_close(server_);
        const ipc::Completion done = complete(&reply);
        EXPECT_TRUE(done.outcome == IPC_OK || done.outcome == IPC_PEER_CLOSED) << done.outcome;
        good += done.outcome == IPC_OK;
        tags.push_back(done.tag);
    }
    EXPECT_EQ(good, 5u);
    std::sort(tags.begin(), tags.end());
    EXPECT_EQ(std::unique(tags.begin(), tags.end()), tags.end());
    ipc::Completion none;
    EXPECT_EQ(ipc_complete(client_, &none.tag, &none.outcome, nullptr, 0, &none.size, patience_ms), IPC_PEER_CLOSED);
}

// A call that was given up may come late, while newer ones are in flight.
TEST_P(InFlight, ALateReplyOfACallThatTimedOutIsNobodys) {
    char buffer[16];
    size_t length = 0;
    ASSERT_EQ(ipc_call(client_, "late", 4, buffer, sizeof buffer, &length, 10), IPC_TIMED_OUT);
    std::thread serving([&] { answer_out_of_order(2, 1); });
    ASSERT_EQ(ipc_submit(client_, "new", 3, 77, patience_ms), IPC_OK);
    std::string reply;
    EXPECT_EQ(complete(&reply).tag, 77u);
    EXPECT_EQ(reply, "new, answered");
    serving.join();
}

} // namespace
} // namespace lifetime
