// Lent rooms, kept replies and dropped ones: the same answers over every transport, whatever the order of calls.
#include "support.hpp"

#include <algorithm>
#include <cstring>

using namespace lifetime;

namespace {

class Orders : public OverTransports {
  protected:
    void SetUp() override {
        OverTransports::SetUp();
        pair_ = std::make_unique<Pair>(listener_);
        ASSERT_TRUE(pair_->good());
    }
    void TearDown() override {
        pair_.reset();
        OverTransports::TearDown();
    }
    ipc_channel* client() { return pair_->client; }
    ipc_channel* server() { return pair_->server; }

    std::string received(ipc_channel* channel) {
        char buffer[256];
        size_t length = 0;
        const ipc_status status = ipc_receive(channel, buffer, sizeof buffer, &length, patience_ms);
        return status == IPC_OK ? std::string(buffer, length) : ipc_last_error();
    }

    std::unique_ptr<Pair> pair_;
};

// Seen 2: reserve, send, commit.
TEST_P(Orders, WhileARoomIsLentNothingElseIsSent) {
    void* room = nullptr;
    size_t length = 0, sent = 7;
    const void* reply = nullptr;
    const uint32_t lengths[] = {1, 1};
    char buffer[8];
    for (const size_t size : {size_t{8}, size_t{5000}, size_t{200'000}}) {
        ASSERT_EQ(ipc_reserve(client(), size, &room, patience_ms), IPC_OK) << ipc_last_error();
        std::memset(room, 'r', size);
        EXPECT_EQ(ipc_send(client(), "sent", 4, patience_ms), IPC_WRONG_STATE);
        EXPECT_NE(std::string(ipc_last_error()).find("ipc_cancel"), std::string::npos) << ipc_last_error();
        EXPECT_EQ(ipc_send_batch(client(), "ab", lengths, 2, &sent, patience_ms), IPC_WRONG_STATE);
        EXPECT_EQ(sent, 0u);
        EXPECT_EQ(ipc_call(client(), "?", 1, buffer, sizeof buffer, &length, patience_ms), IPC_WRONG_STATE);
        EXPECT_EQ(ipc_call_peek(client(), "?", 1, &reply, &length, patience_ms), IPC_WRONG_STATE);
        EXPECT_EQ(ipc_commit_reply(client(), 1, patience_ms), IPC_WRONG_STATE);
        EXPECT_EQ(ipc_receive(client(), buffer, sizeof buffer, &length, 0), IPC_TIMED_OUT);
        EXPECT_EQ(ipc_commit(client(), size + 1, patience_ms), IPC_INVALID_ARGUMENT);
        EXPECT_EQ(ipc_commit(client(), 4, patience_ms), IPC_OK);
        EXPECT_EQ(ipc_commit(client(), 4, patience_ms), IPC_WRONG_STATE);
        EXPECT_EQ(received(server()), "rrrr");
    }
}

TEST_P(Orders, ACancelledRoomIsNotSent) {
    void* room = nullptr;
    EXPECT_EQ(ipc_cancel(client()), IPC_WRONG_STATE);
    for (const size_t size : {size_t{8}, size_t{5000}, size_t{200'000}}) {
        ASSERT_EQ(ipc_reserve(client(), size, &room, patience_ms), IPC_OK);
        EXPECT_EQ(ipc_cancel(client()), IPC_OK);
        EXPECT_EQ(ipc_cancel(client()), IPC_WRONG_STATE);
        ASSERT_EQ(ipc_send(client(), "sent", 4, patience_ms), IPC_OK);
        EXPECT_EQ(received(server()), "sent");
        ASSERT_EQ(ipc_reserve(client(), size, &room, patience_ms), IPC_OK);
        ASSERT_EQ(ipc_reserve(client(), 3, &room, patience_ms), IPC_OK); // takes the place of the first
        std::memcpy(room, "two", 3);
        ASSERT_EQ(ipc_commit(client(), 3, patience_ms), IPC_OK);
        EXPECT_EQ(received(server()), "two");
        // A room that is not to be had takes the place of the first as well.
        ASSERT_EQ(ipc_reserve(client(), 3, &room, patience_ms), IPC_OK);
        EXPECT_EQ(ipc_reserve(client(), ipc_channel_limit(client()) + 1, &room, patience_ms), IPC_MESSAGE_TOO_LARGE);
        EXPECT_EQ(ipc_cancel(client()), IPC_WRONG_STATE);
    }
}

// What lends a room or ends one, by its name in a failure.
struct RoomCall {
    const char* name;
    ipc_status (*run)(ipc_channel*);
};
constexpr RoomCall room_calls[] = {
    {"ipc_commit", [](ipc_channel* channel) { return ipc_commit(channel, 4, patience_ms); }},
    {"ipc_commit_reply", [](ipc_channel* channel) { return ipc_commit_reply(channel, 4, patience_ms); }},
    {"ipc_reserve",
     [](ipc_channel* channel) {
         void* room = nullptr;
         return ipc_reserve(channel, 4, &room, patience_ms);
     }},
    {"ipc_reserve_reply",
     [](ipc_channel* channel) {
         void* room = nullptr;
         return ipc_reserve_reply(channel, 4, &room, patience_ms);
     }},
};

// Whichever thread was faster, the one that closed or the one that committed: there is no room after a commit that failed.
TEST_P(Orders, AClosedChannelTakesTheRoomBack) {
    for (const RoomCall& call : room_calls) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        void* room = nullptr;
        ASSERT_EQ(ipc_reserve(pair.client, 8, &room, patience_ms), IPC_OK);
        ASSERT_EQ(ipc_reserve(pair.server, 8, &room, patience_ms), IPC_OK);
        ipc_channel_close(pair.client);
        ipc_channel_close(pair.server);
        EXPECT_EQ(call.run(pair.client), IPC_CLOSED) << call.name;
        EXPECT_EQ(ipc_cancel(pair.client), IPC_WRONG_STATE) << call.name;
        // Nothing else does.
        EXPECT_EQ(ipc_send(pair.server, "x", 1, patience_ms), IPC_CLOSED);
        EXPECT_EQ(ipc_cancel(pair.server), IPC_OK) << call.name;
    }
}

TEST_P(Orders, ABrokenChannelTakesTheRoomBack) {
    for (const RoomCall& call : room_calls) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        void* room = nullptr;
        const void* request = nullptr;
        size_t length = 0;
        ASSERT_EQ(ipc_reserve(pair.server, 8, &room, patience_ms), IPC_OK);
        ASSERT_EQ(ipc_send(pair.client, "message", 7, patience_ms), IPC_OK);
        ASSERT_EQ(ipc_receive_request(pair.server, &request, &length, patience_ms), IPC_NOT_OUR_PROTOCOL);
        EXPECT_EQ(call.run(pair.server), IPC_NOT_OUR_PROTOCOL) << call.name;
        EXPECT_EQ(ipc_cancel(pair.server), IPC_WRONG_STATE) << call.name;
    }
}

TEST_P(Orders, ARoomForAReplyIsNoRoomForAMessage) {
    void* room = nullptr;
    const void* request = nullptr;
    size_t length = 0;
    char reply[16];
    ipc_status called = IPC_SYSTEM;
    std::thread calling([&] { called = ipc_call(client(), "?", 1, reply, sizeof reply, &length, patience_ms); });
    size_t request_length = 0;
    EXPECT_EQ(ipc_receive_request(server(), &request, &request_length, patience_ms), IPC_OK);
    EXPECT_EQ(ipc_reserve(server(), 4, &room, patience_ms), IPC_OK);
    EXPECT_EQ(ipc_commit_reply(server(), 4, patience_ms), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_reply(server(), "x", 1, patience_ms), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_fail_request(server(), "x", patience_ms), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_reserve_reply(server(), 4, &room, patience_ms), IPC_OK);
    EXPECT_EQ(ipc_commit(server(), 4, patience_ms), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_reply(server(), "x", 1, patience_ms), IPC_WRONG_STATE);
    std::memcpy(room, "four", 4);
    EXPECT_EQ(ipc_commit_reply(server(), 4, patience_ms), IPC_OK);
    calling.join();
    EXPECT_EQ(called, IPC_OK) << ipc_last_error();
    EXPECT_EQ(std::string(reply, length), "four");
}

ipc_status IPC_CALL handler_of_two_minds(void*, const void*, size_t, ipc_reply_writer* writer) {
    void* room = nullptr;
    if (const ipc_status status = ipc_reply_reserve(writer, 100'000, &room)) return status;
    return ipc_reply_fail(writer, "after all not");
}

TEST_P(Orders, AHandlerMayFailAfterItReserved) {
    std::thread serving(
        [&] { EXPECT_EQ(ipc_serve(server(), handler_of_two_minds, nullptr), IPC_OK) << ipc_last_error(); });
    char reply[16];
    size_t length = 0;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ipc_call(client(), "?", 1, reply, sizeof reply, &length, patience_ms), IPC_HANDLER_FAILED);
        EXPECT_NE(std::string(ipc_last_error()).find("after all not"), std::string::npos) << ipc_last_error();
    }
    ipc_channel_close(client());
    serving.join();
}

// A handler that uses its room in each way it may: the request's first byte says which. What of a room is not sent must not be taken for
// a message.
ipc_status IPC_CALL handler_of_many_ways(void*, const void* request, size_t length, ipc_reply_writer* writer) {
    const auto way = static_cast<const uint8_t*>(request)[0];
    void* room = nullptr;
    if (way != 0) {
        if (const ipc_status status = ipc_reply_reserve(writer, 300, &room)) return status;
        std::memset(room, 0xEE, 300);
    }
    if (way == 3) return ipc_reply_fail(writer, "no");
    if (way == 4) return IPC_INVALID_ARGUMENT;
    if (way != 1 && way != 2) return IPC_OK;
    if (const ipc_status status = ipc_reply_reserve(writer, way == 1 ? length : 40'000, &room)) return status;
    std::memcpy(room, request, length);
    return IPC_OK;
}

TEST_P(Orders, AHandlerMayUseItsRoomInEveryWay) {
    std::thread serving(
        [&] { EXPECT_EQ(ipc_serve(server(), handler_of_many_ways, nullptr), IPC_OK) << ipc_last_error(); });
    std::mt19937 random(3);
    std::vector<uint8_t> reply(50'000);
    for (int i = 0; i < 300; ++i) {
        std::vector<uint8_t> request(1 + random() % 120, static_cast<uint8_t>(i));
        request[0] = static_cast<uint8_t>(random() % 6);
        size_t length = 0;
        const ipc_status called =
            ipc_call(client(), request.data(), request.size(), reply.data(), reply.size(), &length, patience_ms);
        const bool fails = request[0] == 3 || request[0] == 4;
        EXPECT_EQ(called, fails ? IPC_HANDLER_FAILED : IPC_OK) << "call " << i << ": " << ipc_last_error();
        if (called != IPC_OK) continue;
        const size_t lengths[] = {0, request.size(), 40'000, 0, 0, 300};
        EXPECT_EQ(length, lengths[request[0]]) << "call " << i;
        const bool echoed = request[0] == 1 || request[0] == 2;
        EXPECT_TRUE(!echoed || std::equal(request.begin(), request.end(), reply.begin())) << "call " << i;
    }
    ipc_channel_close(client());
    serving.join();
}

TEST_P(Orders, AKeptReplyIsGivenOnceAndDroppedByTheNextCall) {
    const std::string large(300'000, 'l');
    std::thread serving([&] {
        for (int i = 0; i < 4; ++i) {
            const void* request = nullptr;
            size_t length = 0;
            if (ipc_receive_request(server(), &request, &length, patience_ms) != IPC_OK) return;
            EXPECT_EQ(ipc_reply(server(), large.data(), large.size(), patience_ms), IPC_OK);
        }
    });
    std::string reply(large.size(), ' ');
    size_t length = 0;
    EXPECT_EQ(ipc_receive_reply(client(), reply.data(), reply.size(), &length, 0), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_call(client(), "1", 1, reply.data(), 10, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, large.size());
    EXPECT_EQ(ipc_receive_reply(client(), reply.data(), 20, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(ipc_receive_reply(client(), reply.data(), reply.size(), &length, patience_ms), IPC_OK);
    EXPECT_EQ(reply, large);
    EXPECT_EQ(ipc_receive_reply(client(), reply.data(), reply.size(), &length, patience_ms), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_call(client(), "2", 1, reply.data(), 10, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
    const void* in_place = nullptr;
    EXPECT_EQ(ipc_call_peek(client(), "3", 1, &in_place, &length, patience_ms), IPC_OK) << ipc_last_error();
    EXPECT_EQ(length, large.size());
    EXPECT_EQ(ipc_release(client()), IPC_OK);
    EXPECT_EQ(ipc_call(client(), "4", 1, reply.data(), reply.size(), &length, patience_ms), IPC_OK) << ipc_last_error();
    serving.join();
}

TEST_P(Orders, ACommitThatTimedOutKeepsTheRoom) {
    void* room = nullptr;
    const std::string filling(60'000, 'f');
    ASSERT_EQ(ipc_reserve(client(), 60'000, &room, patience_ms), IPC_OK);
    ASSERT_EQ(ipc_cancel(client()), IPC_OK);
    while (ipc_send(client(), filling.data(), filling.size(), 0) == IPC_OK) continue;
    // What can be had now is a buffer of our own or nothing; and the message that filled the way may have been cut.
    if (ipc_reserve(client(), 60'000, &room, 0) != IPC_OK) return;
    const ipc_status status = ipc_commit(client(), 60'000, 20);
    if (status == IPC_OK) return; // there was room for it
    ASSERT_EQ(status, IPC_TIMED_OUT);
    const std::string error_message = ipc_last_error();
    if (ipc_send(client(), "x", 1, 0) == IPC_WRONG_STATE) {
        EXPECT_EQ(ipc_cancel(client()), IPC_OK);
    } else { // cut half-way: broken for good, and says the same again
        EXPECT_EQ(ipc_commit(client(), 60'000, 20), IPC_TIMED_OUT);
        EXPECT_EQ(ipc_last_error(), error_message);
    }
}

// Of a peer that breaks the order both halves tell the same, and the peer sees the end.
TEST_P(Orders, WhoBreaksTheOrderIsToldOfByBothHalves) {
    const void* request = nullptr;
    size_t length = 0;
    char buffer[8];
    ASSERT_EQ(ipc_send(client(), "message", 7, patience_ms), IPC_OK);
    ASSERT_EQ(ipc_receive_request(server(), &request, &length, patience_ms), IPC_NOT_OUR_PROTOCOL);
    const std::string error_message = ipc_last_error();
    EXPECT_EQ(ipc_receive(server(), buffer, sizeof buffer, &length, patience_ms), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(ipc_last_error(), error_message);
    EXPECT_EQ(ipc_send(server(), "x", 1, patience_ms), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(ipc_last_error(), error_message);
    EXPECT_EQ(ipc_receive(client(), buffer, sizeof buffer, &length, patience_ms), IPC_PEER_CLOSED);
    ipc_channel_close(server());
    EXPECT_EQ(ipc_send(server(), "x", 1, patience_ms), IPC_CLOSED);
}

TEST_P(Orders, WhatAnEventLoopWaitsOnIsThereOrItIsSaidWhyNot) {
    intptr_t descriptor = 7;
    const ipc_status status = ipc_channel_fd(client(), &descriptor);
    if (GetParam() == "unix" || GetParam() == "tcp") {
        EXPECT_EQ(status, IPC_OK);
        EXPECT_GE(descriptor, 0);
    } else if (GetParam().starts_with("shm")) {
        EXPECT_EQ(status, IPC_NOT_AVAILABLE);
        EXPECT_NE(std::string(ipc_last_error()).find("thread of its own"), std::string::npos);
    }
    if (status != IPC_OK) {
        EXPECT_EQ(descriptor, -1);
    }
}

INSTANTIATE_TEST_SUITE_P(Channels, Orders, testing::ValuesIn(transports("channel")), name_of);

} // namespace
