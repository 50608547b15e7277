#include "direct_transport.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace ipc {
namespace {

const Deadline forever(IPC_FOREVER);

// Answers each request with itself reversed, until the channel ends.
Status serve_reversed(SessionOver<FrameChannel>& server, std::atomic<int>* most_at_once = nullptr) {
    static std::atomic<int> inside{0};
    const auto answer_one = [&]() -> Status {
        const void* request = nullptr;
        size_t length = 0;
        if (Status s = server.receive_request(&request, &length, forever)) return s;
        const int now = ++inside;
        if (most_at_once != nullptr && now > *most_at_once) *most_at_once = now;
        std::string reply = text_of(request, length);
        std::ranges::reverse(reply);
        --inside;
        if (reply == "liaf") return server.fail_request("no", forever);
        return server.reply(reply.data(), reply.size(), forever);
    };
    return server.serve_elsewhere(answer_one);
}

std::string call(SessionOver<FrameChannel>& client, const std::string& request, int32_t timeout_ms = 5000) {
    std::string reply(test_limit, '\0');
    size_t length = 0;
    const Status s =
        client.call(request.data(), request.size(), reply.data(), reply.size(), &length, Deadline(timeout_ms));
    return s == IPC_OK ? reply.substr(0, length) : "status " + std::to_string(s) + ": " + last_error();
}

TEST(CallChannel, AnswersOnTheTransportsThreadsWhileServing) {
    CallPair pair;
    std::atomic<int> most_at_once{0};
    auto serving = std::async(std::launch::async, [&] { return serve_reversed(*pair.server, &most_at_once); });
    EXPECT_EQ(call(*pair.client, "abc"), "cba");
    EXPECT_EQ(call(*pair.client, ""), "");
    const std::string large(test_limit, 'x');
    EXPECT_EQ(call(*pair.client, large), large);
    EXPECT_NE(call(*pair.client, "fail").find("status 42: the server's handler failed: no"), std::string::npos);
    for (int i = 0; i < 500; ++i)
        ASSERT_EQ(call(*pair.client, "ab" + std::to_string(i % 10)), std::to_string(i % 10) + "ba");
    pair.client->close();
    EXPECT_EQ(serving.get(), IPC_PEER_CLOSED);
    EXPECT_EQ(most_at_once, 1);
}

TEST(CallChannel, AnswersAStepAtATime) {
    CallPair pair;
    auto answered = std::async(std::launch::async, [&] { return call(*pair.client, "abc"); });
    const void* request;
    size_t length = 0;
    ASSERT_EQ(pair.server->receive_request(&request, &length, Deadline(5000)), IPC_OK);
    EXPECT_EQ(text_of(request, length), "abc");
    void* room;
    ASSERT_EQ(pair.server->reserve_reply(4, &room, forever), IPC_OK);
    std::memcpy(room, "wxyz", 4);
    ASSERT_EQ(pair.server->commit_reply(3, forever), IPC_OK);
    EXPECT_EQ(answered.get(), "wxy");
    EXPECT_EQ(pair.server->receive_request(&request, &length, Deadline(0)), IPC_TIMED_OUT);
    EXPECT_EQ(pair.server->receive_request(&request, &length, Deadline(20)), IPC_TIMED_OUT);
}

TEST(CallChannel, AMessageIsConfirmedWhenItIsReceived) {
    CallPair pair;
    std::atomic<bool> sent{false};
    auto sending = std::async(std::launch::async, [&] {
        const Status s = pair.client->send("hello", 5, Deadline(5000));
        sent = true;
        return s;
    });
    const void* message;
    size_t length = 0;
    ASSERT_EQ(pair.server->peek(&message, &length, Deadline(5000)), IPC_OK);
    EXPECT_EQ(text_of(message, length), "hello");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(sent);
    ASSERT_EQ(pair.server->release(), IPC_OK);
    EXPECT_EQ(sending.get(), IPC_OK);
    auto empty = std::async(std::launch::async, [&] { return pair.client->send(nullptr, 0, Deadline(5000)); });
    char buffer[8];
    ASSERT_EQ(pair.server->receive(buffer, sizeof buffer, &length, Deadline(5000)), IPC_OK);
    EXPECT_EQ(length, 0u);
    EXPECT_EQ(empty.get(), IPC_OK);
}

TEST(CallChannel, OnlyTheClientSpeaksOfItsOwnAccord) {
    CallPair pair;
    char buffer[8];
    size_t length = 0;
    void* room;
    EXPECT_EQ(pair.server->send("x", 1, forever), IPC_WRONG_STATE);
    EXPECT_EQ(pair.server->reserve(1, &room, forever), IPC_WRONG_STATE);
    EXPECT_EQ(pair.server->call("x", 1, buffer, sizeof buffer, &length, Deadline(5000)), IPC_WRONG_STATE);
    EXPECT_EQ(pair.client->receive(buffer, sizeof buffer, &length, forever), IPC_WRONG_STATE);
    EXPECT_NE(std::string(last_error()).find("ipc_call"), std::string::npos) << last_error();
    const void* request;
    EXPECT_EQ(pair.client->receive_request(&request, &length, forever), IPC_WRONG_STATE);
    auto serving = std::async(std::launch::async, [&] { return serve_reversed(*pair.server); });
    EXPECT_EQ(call(*pair.client, "still good"), "doog llits");
    pair.client->close();
    serving.get();
}

TEST(CallChannel, ALateReplyIsDropped) {
    CallPair pair;
    EXPECT_EQ(call(*pair.client, "first", 30).substr(0, 9), "status 35");
    auto second = std::async(std::launch::async, [&] { return call(*pair.client, "second"); });
    for (const char* wanted : {"first", "second"}) {
        const void* request = nullptr;
        size_t length = 0;
        ASSERT_EQ(pair.server->receive_request(&request, &length, Deadline(5000)), IPC_OK);
        EXPECT_EQ(text_of(request, length), wanted);
        ASSERT_EQ(pair.server->reply(wanted, std::strlen(wanted), forever), IPC_OK);
    }
    EXPECT_EQ(second.get(), "second");
}

TEST(CallChannel, AReplyTooLongForTheBufferIsKept) {
    CallPair pair;
    auto serving = std::async(std::launch::async, [&] { return serve_reversed(*pair.server); });
    char small[2], enough[8];
    size_t length = 0;
    EXPECT_EQ(pair.client->call("abcd", 4, small, sizeof small, &length, forever), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, 4u);
    ASSERT_EQ(pair.client->receive_kept_reply(enough, sizeof enough, &length, forever), IPC_OK);
    EXPECT_EQ(text_of(enough, length), "dcba");
    pair.client->close();
    serving.get();
}

TEST(CallChannel, ClosingTheServerEndsWhatWaits) {
    CallPair pair;
    auto waiting = std::async(std::launch::async, [&] { return call(*pair.client, "unheard"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pair.server->close();
    EXPECT_EQ(waiting.get().substr(0, 9), "status 36");
    EXPECT_EQ(call(*pair.client, "again").substr(0, 9), "status 36");
    EXPECT_EQ(pair.server->send("x", 1, forever), IPC_CLOSED);
}

TEST(CallChannel, ClosingTheServerEndsACallReceivedButUnanswered) {
    CallPair pair;
    auto waiting = std::async(std::launch::async, [&] { return call(*pair.client, "abc"); });
    const void* request;
    size_t length = 0;
    ASSERT_EQ(pair.server->receive_request(&request, &length, Deadline(5000)), IPC_OK);
    pair.server->close();
    EXPECT_EQ(waiting.get().substr(0, 9), "status 36");
    EXPECT_EQ(text_of(request, length), "abc"); // still the server's to read
    EXPECT_EQ(pair.server->reply("late", 4, forever), IPC_CLOSED);
}

TEST(CallChannel, AHandlerThatRunsWhileTheServerClosesStillAnswers) {
    CallPair pair;
    std::promise<void> inside, go_on;
    auto serving = std::async(std::launch::async, [&] {
        return pair.server->serve_elsewhere([&]() -> Status {
            const void* request = nullptr;
            size_t length = 0;
            if (Status s = pair.server->receive_request(&request, &length, forever)) return s;
            inside.set_value();
            go_on.get_future().wait();
            return pair.server->reply("drained", 7, forever);
        });
    });
    auto answer = std::async(std::launch::async, [&] { return call(*pair.client, "abc"); });
    inside.get_future().wait();
    pair.server->close();
    go_on.set_value();
    EXPECT_EQ(answer.get(), "drained");
    EXPECT_EQ(serving.get(), IPC_CLOSED);
}

TEST(CallChannel, AClientThatVanishesEndsTheServersChannel) {
    CallPair pair;
    auto serving = std::async(std::launch::async, [&] { return serve_reversed(*pair.server); });
    pair.session->client_gone();
    EXPECT_EQ(serving.get(), IPC_PEER_CLOSED);
    char buffer[8];
    size_t length = 0;
    EXPECT_EQ(pair.server->receive(buffer, sizeof buffer, &length, forever), IPC_PEER_CLOSED);
}

TEST(CallChannel, WhatIsOverTheReceiversLimitEndsTheChannel) {
    CallPair pair(100, test_limit);
    EXPECT_EQ(call(*pair.client, std::string(101, 'x')).substr(0, 9), "status 36");
    const void* request;
    size_t length = 0;
    EXPECT_EQ(pair.server->receive_request(&request, &length, forever), IPC_PEER_TOO_LARGE);
    CallPair other(test_limit, 100);
    auto answer = std::async(std::launch::async, [&] { return call(*other.client, "x"); });
    ASSERT_EQ(other.server->receive_request(&request, &length, Deadline(5000)), IPC_OK);
    const std::string long_reply(101, 'y');
    ASSERT_EQ(other.server->reply(long_reply.data(), long_reply.size(), forever), IPC_OK);
    EXPECT_EQ(answer.get().substr(0, 9), "status 40");
    EXPECT_EQ(call(*other.client, "x").substr(0, 9), "status 40");
}

TEST(CallChannel, AWrongKindEndsTheChannel) {
    CallPair pair;
    struct NoSink final : ReplySink {
        void put(FrameKind, uint32_t, const void*, size_t) override { ADD_FAILURE() << "nothing was to be answered"; }
    } sink;
    EXPECT_EQ(pair.session->answer(static_cast<FrameKind>(77), 1, "x", 1, sink), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(pair.session->answer(FrameKind::request, 1, "x", 1, sink), IPC_NOT_OUR_PROTOCOL);
    const void* request;
    size_t length = 0;
    EXPECT_EQ(pair.server->receive_request(&request, &length, forever), IPC_NOT_OUR_PROTOCOL);
}

TEST(CallChannel, AMessageWhereARequestIsExpectedEndsServing) {
    CallPair pair;
    auto serving = std::async(std::launch::async, [&] { return serve_reversed(*pair.server); });
    EXPECT_EQ(pair.client->send("x", 1, Deadline(5000)), IPC_PEER_CLOSED);
    EXPECT_EQ(serving.get(), IPC_NOT_OUR_PROTOCOL);
}

TEST(CallListener, AcceptsWhatIsAdmittedAndEndsTheRestWhenClosed) {
    DirectListener listener;
    FrameChannel* accepted = nullptr;
    EXPECT_EQ(listener.accept(Deadline(0), &accepted), IPC_TIMED_OUT);
    auto first = std::make_shared<CallSession>(test_limit, "direct://test");
    auto second = std::make_shared<CallSession>(test_limit, "direct://test");
    ASSERT_EQ(listener.admit(first), IPC_OK);
    ASSERT_EQ(listener.admit(second), IPC_OK);
    ASSERT_EQ(listener.accept(Deadline(5000), &accepted), IPC_OK);
    const std::unique_ptr<FrameChannel> channel(accepted);
    std::promise<void> second_accepted;
    auto accepting = std::async(std::launch::async, [&] {
        FrameChannel* one = nullptr;
        EXPECT_EQ(listener.accept(forever, &one), IPC_OK);
        delete one;
        second_accepted.set_value();
        return listener.accept(forever, &one);
    });
    second_accepted.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // for the accept that waits
    auto third = std::make_shared<CallSession>(test_limit, "direct://test");
    listener.close();
    EXPECT_EQ(accepting.get(), IPC_CLOSED);
    EXPECT_EQ(listener.admit(third), IPC_CLOSED);
    EXPECT_EQ(listener.stopped, 1);
    struct NoSink final : ReplySink {
        void put(FrameKind, uint32_t, const void*, size_t) override {}
    } sink;
    EXPECT_EQ(second->answer(FrameKind::request, 1, "x", 1, sink), IPC_PEER_CLOSED) << "its channel was freed";
}

} // namespace
} // namespace ipc
