// The functions that begin with try_: a status and a value, no exception.
#include "../server/support.hpp"

namespace ipc::test {
namespace {

class Results : public testing::TestWithParam<const char*> {
  protected:
    Results() : listener_(fresh_address(GetParam())) {
        std::thread connecting([this] { client_ = Channel::connect(listener_.address(), patience_ms); });
        server_ = listener_.accept(patience_ms);
        connecting.join();
    }
    Listener listener_;
    Channel server_;
    Channel client_;
};
INSTANTIATE_TEST_SUITE_P(Transports, Results, testing::ValuesIn(channel_transports), transport_name);

TEST_P(Results, NothingThereIsATimeOutAndNoException) {
    char buffer[16];
    const Result<size_t> nothing = client_.try_receive(buffer, sizeof buffer);
    EXPECT_FALSE(nothing);
    EXPECT_TRUE(nothing.timed_out());
    EXPECT_TRUE(client_.try_peek().timed_out());
    EXPECT_TRUE(listener_.try_accept().timed_out());
    EXPECT_EQ(client_.try_release().status(), IPC_WRONG_STATE);
    EXPECT_EQ(client_.try_cancel().status(), IPC_WRONG_STATE);
    EXPECT_EQ(client_.try_commit(1).status(), IPC_WRONG_STATE);
    EXPECT_EQ(client_.try_receive_reply(buffer, sizeof buffer).status(), IPC_WRONG_STATE);
}

TEST_P(Results, AMessageIsAValueAndATooSmallBufferSaysWhatItNeeds) {
    ASSERT_TRUE(client_.try_send("twelve bytes"));
    char buffer[16];
    const Result<size_t> too_small = server_.try_receive(buffer, 4, patience_ms);
    EXPECT_EQ(too_small.status(), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(*too_small, 12u);
    const Result<size_t> received = server_.try_receive(buffer, sizeof buffer, patience_ms);
    ASSERT_TRUE(received) << ipc_last_error();
    EXPECT_EQ(std::string_view(buffer, *received), "twelve bytes");
}

TEST_P(Results, RoomsAndMessagesInPlace) {
    const Result<std::byte*> room = client_.try_reserve(8, patience_ms);
    ASSERT_TRUE(room) << ipc_last_error();
    std::memcpy(*room, "in place", 8);
    ASSERT_TRUE(client_.try_commit(8, patience_ms));
    const Result<Bytes> message = server_.try_peek(patience_ms);
    ASSERT_TRUE(message) << ipc_last_error();
    EXPECT_EQ(message->text(), "in place");
    EXPECT_TRUE(server_.try_release());
}

TEST_P(Results, Batches) {
    const std::string messages = "onethree";
    const std::array<uint32_t, 3> lengths{3, 0, 5};
    // By a thread: one block of shm-event takes one message.
    std::thread sending([this, &messages, &lengths] {
        const Result<size_t> sent =
            client_.try_send_batch(messages.data(), lengths.data(), lengths.size(), patience_ms);
        EXPECT_TRUE(sent) << ipc_last_error();
        EXPECT_EQ(*sent, lengths.size());
    });
    char buffer[16];
    std::array<uint32_t, 4> received_lengths{};
    const Result<size_t> too_small = server_.try_receive_batch(buffer, 2, received_lengths.data(), 4, patience_ms);
    EXPECT_EQ(too_small.status(), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(received_lengths[0], 3u);
    std::string received;
    for (size_t count = 0; count < lengths.size();) {
        const Result<size_t> more = server_.try_receive_batch(buffer, sizeof buffer, received_lengths.data(),
                                                              received_lengths.size(), patience_ms);
        EXPECT_TRUE(more) << ipc_last_error();
        if (!more) break;
        for (size_t i = 0, at = 0; i < *more && count < lengths.size(); ++i, ++count) {
            EXPECT_EQ(received_lengths[i], lengths[count]) << "message " << count;
            received.append(buffer + at, received_lengths[i]);
            at += received_lengths[i];
        }
    }
    sending.join();
    EXPECT_EQ(received, messages);
    EXPECT_TRUE(server_.try_receive_batch(buffer, sizeof buffer, received_lengths.data(), 4).timed_out());
    server_.send_batch(messages.data(), lengths.data(), 1, patience_ms);
    EXPECT_EQ(client_.receive_batch(buffer, sizeof buffer, received_lengths.data(), 4, patience_ms), 1u);
    EXPECT_EQ(std::string_view(buffer, received_lengths[0]), "one");
}

TEST_P(Results, ServingStepByStep) {
    char reply[16];
    EXPECT_TRUE(server_.try_receive_request().timed_out());
    EXPECT_EQ(server_.try_fail_request("there is none").status(), IPC_WRONG_STATE);
    EXPECT_EQ(server_.try_reserve_reply(8).status(), IPC_WRONG_STATE);
    EXPECT_EQ(server_.try_commit_reply(8).status(), IPC_WRONG_STATE);
    std::thread serving([this] {
        EXPECT_EQ(server_.receive_request(patience_ms).text(), "room");
        std::byte* const room = server_.reserve_reply(8, patience_ms);
        std::memcpy(room, "in place", 8);
        server_.commit_reply(8, patience_ms);
        EXPECT_EQ(server_.receive_request(patience_ms).text(), "fail");
        server_.fail_request("not today", patience_ms);
        EXPECT_EQ(server_.receive_request(patience_ms).text(), "copy");
        EXPECT_TRUE(server_.try_reply("copied", 6, patience_ms));
    });
    EXPECT_EQ(client_.call("room", patience_ms), "in place");
    EXPECT_EQ(client_.try_call("fail", 4, reply, sizeof reply, patience_ms).status(), IPC_HANDLER_FAILED);
    EXPECT_STREQ(ipc_last_error(), "the server's handler failed: not today");
    EXPECT_EQ(client_.call("copy", patience_ms), "copied");
    serving.join();
}

TEST_P(Results, HandlersWriteRepliesOfEveryLength) {
    std::thread serving([this] {
        const Result<void> served = server_.try_serve(
            [](Bytes request, ReplyWriter& reply) { EXPECT_TRUE(reply.try_write(request.data, request.size)); });
        EXPECT_TRUE(served) << ipc_last_error();
    });
    constexpr size_t longest = 2100, margin = 64;
    std::string request, reply(longest + margin, '-');
    for (size_t length = 0; length <= longest; ++length) {
        const Result<size_t> size = client_.try_call(request.data(), length, reply.data(), reply.size(), patience_ms);
        EXPECT_TRUE(size) << ipc_last_error();
        if (!size || std::string_view(reply.data(), *size) != request) {
            ADD_FAILURE() << "the reply of " << length << " bytes is not what the handler wrote";
            break;
        }
        request += static_cast<char>('a' + length * 7 % 26);
    }
    client_.close();
    serving.join();
}

TEST_P(Results, CallsAndTheirFailures) {
    std::thread serving([this] {
        const Result<void> served = server_.try_serve([](Bytes request, ReplyWriter& reply) {
            if (request.text() == "no") throw std::runtime_error("refused");
            EXPECT_TRUE(reply.try_write(request.text()));
        });
        EXPECT_TRUE(served) << ipc_last_error();
    });
    char reply[16];
    const Result<size_t> echoed = client_.try_call("echo", 4, reply, sizeof reply, patience_ms);
    EXPECT_TRUE(echoed) << ipc_last_error();
    EXPECT_EQ(std::string_view(reply, *echoed), "echo");
    const Result<size_t> kept = client_.try_call("longer", 6, reply, 2, patience_ms);
    EXPECT_EQ(kept.status(), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(*kept, 6u);
    const Result<size_t> fetched = client_.try_receive_reply(reply, sizeof reply, patience_ms);
    EXPECT_EQ(std::string_view(reply, *fetched), "longer");
    const Result<Bytes> in_place = client_.try_call_peek("place", 5, patience_ms);
    EXPECT_TRUE(in_place && in_place->text() == "place") << ipc_last_error();
    EXPECT_TRUE(client_.try_release());
    EXPECT_EQ(client_.try_call("no", 2, reply, sizeof reply, patience_ms).status(), IPC_HANDLER_FAILED);
    EXPECT_STREQ(ipc_last_error(), "the server's handler failed: refused");
    client_ = Channel();
    serving.join();
}

TEST_P(Results, APeerThatHasGoneIsAStatus) {
    client_ = Channel();
    char buffer[16];
    EXPECT_EQ(server_.try_receive(buffer, sizeof buffer, patience_ms).status(), IPC_PEER_CLOSED);
    // A handle that was moved away has nothing to work on.
    const Channel taken = std::move(server_);
    EXPECT_EQ(server_.try_receive(buffer, sizeof buffer).status(), IPC_INVALID_ARGUMENT);
}

#if defined(__cpp_lib_span)
TEST_P(Results, SpansAreBytes) {
    const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
    client_.send(std::span(bytes), patience_ms);
    std::array<std::byte, 8> buffer{};
    const Result<size_t> received = server_.try_receive(std::span(buffer), patience_ms);
    ASSERT_TRUE(received) << ipc_last_error();
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.begin()));
    EXPECT_EQ(*received, bytes.size());
}
#endif

TEST(Result, WhatCannotBeOpenedSaysWhy) {
    EXPECT_EQ(Channel::try_connect("no address").status(), IPC_BAD_ADDRESS);
    EXPECT_EQ(Listener::try_listen("carrier-pigeon://x").status(), IPC_UNKNOWN_TRANSPORT);
    EXPECT_EQ(Channel::try_connect(fresh_address("shm")).status(), IPC_NO_SERVER);
    EXPECT_EQ(Queue::try_open("pipe://wrong-kind").status(), IPC_WRONG_STATE);
    EXPECT_EQ(Publisher::try_open("shm://wrong-kind").status(), IPC_WRONG_STATE);
}

TEST(Result, TheLibraryListsItsTransports) {
    const std::vector<std::string_view> listed = transport_ids();
    ASSERT_EQ(listed.size(), static_cast<size_t>(ipc_transport_count()));
    EXPECT_NE(std::find(listed.begin(), listed.end(), "shm"), listed.end());
    for (const std::string_view transport : listed)
        EXPECT_NE(describe_transport(std::string(transport)).find(transport), std::string_view::npos) << transport;
    EXPECT_TRUE(describe_transport("carrier-pigeon").empty());
}

TEST(Result, Queues) {
    const std::string queue_address = fresh_address("queue");
    Result<Queue> queue = Queue::try_open(queue_address, patience_ms);
    ASSERT_TRUE(queue) << ipc_last_error();
    char buffer[16];
    EXPECT_TRUE(queue->try_dequeue(buffer, sizeof buffer).timed_out());
    EXPECT_TRUE(queue->try_enqueue("order"));
    EXPECT_EQ(*queue->try_dequeue(buffer, 2), 5u);
    EXPECT_EQ(*queue->try_dequeue(buffer, sizeof buffer), 5u);
    EXPECT_TRUE(Queue::remove(queue_address));
}

#if !defined(_WIN32) // there is no broadcast yet
TEST(Result, Broadcasts) {
    EXPECT_EQ(Subscriber::try_open(fresh_address("broadcast")).status(), IPC_NO_SERVER);
    char buffer[16];
    const std::string broadcast_address = fresh_address("broadcast");
    Result<Publisher> publisher = Publisher::try_open(broadcast_address);
    ASSERT_TRUE(publisher) << ipc_last_error();
    Result<Subscriber> subscriber = Subscriber::try_open(broadcast_address, patience_ms);
    ASSERT_TRUE(subscriber) << ipc_last_error();
    EXPECT_TRUE(subscriber->try_receive(buffer, sizeof buffer).timed_out());
    EXPECT_TRUE(publisher->try_publish("price", 5));
    const Result<Subscriber::Received> received = subscriber->try_receive(buffer, sizeof buffer, patience_ms);
    ASSERT_TRUE(received) << ipc_last_error();
    EXPECT_EQ(received->size, 5u);
}
#endif

} // namespace
} // namespace ipc::test
