// Calls that coroutines await, many at once.
#include "../server/support.hpp"
#include "running.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>
#if !defined(_WIN32)
#    include <poll.h>
#endif

namespace ipc::test {
namespace {

// Calls twice, one after the other, and checks what comes back.
Running call_twice(AwaitableCalls& calls, uint32_t number, size_t length) {
    std::vector<uint32_t> request(length, number), reply(length);
    const size_t bytes = length * sizeof(uint32_t);
    for (int i = 0; i < 2; ++i) {
        const size_t came = co_await calls.call(request.data(), bytes, reply.data(), bytes);
        EXPECT_EQ(came, bytes);
        EXPECT_EQ(reply, request) << "the reply to call " << number << " is another one's";
        ++request[0];
    }
}

Running call_once(AwaitableCalls& calls, std::string request, std::string* reply) {
    reply->resize(100);
    reply->resize(co_await calls.call(request.data(), request.size(), reply->data(), reply->size()));
}

Running try_once(AwaitableCalls& calls, size_t capacity, Result<size_t>* result) {
    std::string reply(capacity, '\0');
    *result = co_await calls.try_call("x", 1, reply.data(), reply.size());
}

class AwaitableCall : public testing::TestWithParam<const char*> {
  protected:
    AwaitableCall() : listener_(fresh_address(GetParam())) {
        std::thread connecting([this] { client_ = Channel::connect(listener_.address(), patience_ms); });
        server_ = listener_.accept(patience_ms);
        connecting.join();
    }
    ~AwaitableCall() override {
        client_.close();
        if (serving_.joinable()) serving_.join();
    }
    void serve_echo() {
        serving_ = std::thread([this] {
            (void)server_.try_serve([](Bytes request, ReplyWriter& reply) {
                if (request.text() == "no") throw std::runtime_error("refused");
                reply.write(request.data, request.size);
            });
        });
    }
    // Takes so many requests and answers none.
    void defer_requests(size_t count) {
        serving_ = std::thread([this, count] {
            for (size_t i = 0; i < count; ++i) {
                std::string text(server_.receive_request(patience_ms).text());
                deferred_.emplace_back(server_.defer_request(), std::move(text));
            }
        });
    }
    Listener listener_;
    Channel server_;
    Channel client_;
    std::thread serving_;
    std::vector<std::pair<uint64_t, std::string>> deferred_;
};
INSTANTIATE_TEST_SUITE_P(Transports, AwaitableCall, testing::ValuesIn(channel_transports), transport_name);

// More than there are places in flight; short replies, and long ones that go right to their buffers.
TEST_P(AwaitableCall, HundredsGetTheirOwnReplies) {
    serve_echo();
    AwaitableCalls calls(client_);
    std::vector<Running> all;
#if defined(_WIN32)
    // A submitter over these takes in no replies while it waits for room (ipc_submit), so few calls may be under way.
    const std::string transport = GetParam();
    const uint32_t count = transport == "pipe" || transport == "mailslot" ? 8 : 400;
#else
    const uint32_t count = 400;
#endif
    for (uint32_t i = 0; i < count; ++i) all.push_back(call_twice(calls, i * 2, i % 9 == 0 ? 2000 : 3));
    while (calls.under_way() > 0) ASSERT_GT(calls.wait(patience_ms), 0u);
    for (const Running& each : all) {
        ASSERT_TRUE(each.done());
        each.rethrow();
    }
    EXPECT_EQ(calls.poll(), 0u);
}

TEST_P(AwaitableCall, ComesBackInWhateverOrder) {
    std::vector<std::string> replies(20);
    defer_requests(replies.size());
    AwaitableCalls calls(client_);
    std::vector<Running> all;
    for (size_t i = 0; i < replies.size(); ++i)
        all.push_back(call_once(calls, "call " + std::to_string(i), &replies[i]));
    serving_.join();
    for (size_t i = replies.size(); i-- > 0;) {
        const std::string reply = "answer to " + deferred_[i].second;
        server_.reply_deferred(deferred_[i].first, reply.data(), reply.size(), patience_ms);
        ASSERT_EQ(calls.wait(patience_ms), 1u);
        EXPECT_TRUE(all[i].done());
        all[i].rethrow();
        EXPECT_EQ(replies[i], "answer to call " + std::to_string(i));
    }
}

TEST_P(AwaitableCall, FailuresAreItsOwn) {
    serve_echo();
    AwaitableCalls calls(client_);
    std::string refused, answered;
    Result<size_t> small(0);
    const Running first = call_once(calls, "no", &refused);
    const Running second = call_once(calls, "yes", &answered);
    const Running third = try_once(calls, 0, &small);
    while (calls.under_way() > 0) ASSERT_GT(calls.wait(patience_ms), 0u);
    EXPECT_EQ(first.status(), IPC_HANDLER_FAILED);
    EXPECT_EQ(second.status(), IPC_OK);
    EXPECT_EQ(answered, "yes");
    EXPECT_EQ(small.status(), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(*small, 1u);
}

// A coroutine that is destroyed gives its call up; the others, and what comes after, get their replies.
TEST_P(AwaitableCall, ADestroyedCoroutineGivesItsCallUp) {
    serve_echo();
    AwaitableCalls calls(client_);
    std::string kept;
    auto given_up = std::make_unique<std::string>();
    {
        const Running gone = call_once(calls, "gone", given_up.get());
        EXPECT_EQ(calls.under_way(), 1u);
    }
    given_up.reset();
    const Running stays = call_once(calls, "stays", &kept);
    while (!stays.done()) ASSERT_GT(calls.wait(patience_ms), 0u);
    EXPECT_EQ(kept, "stays");
    EXPECT_EQ(calls.under_way(), 0u);
}

TEST_P(AwaitableCall, TheEndOfTheChannelEndsThemAll) {
    defer_requests(IPC_MOST_IN_FLIGHT);
    AwaitableCalls calls(client_);
    std::vector<std::string> replies(300);
    std::vector<Running> all;
    for (auto& reply : replies) all.push_back(call_once(calls, "x", &reply));
    EXPECT_EQ(calls.under_way(), 300u);
    EXPECT_EQ(calls.wait(0), 0u);
    serving_.join();
    client_.close();
    while (calls.under_way() > 0) ASSERT_GT(calls.wait(patience_ms), 0u);
    for (const Running& each : all) EXPECT_EQ(each.status(), IPC_CLOSED);
}

// All places are taken, so what is called then waits for one. A message that is too long fails when its turn has come.
class AwaitableCallWithoutAPlace : public AwaitableCall {
  protected:
    AwaitableCallWithoutAPlace() { serve_echo(); }
    void take_all_places(const std::string& first) {
        replies_.resize(IPC_MOST_IN_FLIGHT);
        all_.push_back(call_once(calls_, first, &replies_[0]));
        while (all_.size() < IPC_MOST_IN_FLIGHT) all_.push_back(call_once(calls_, "yes", &replies_[all_.size()]));
    }
    void wait_for_all() {
        while (calls_.under_way() > 0) ASSERT_GT(calls_.wait(patience_ms), 0u);
    }
    size_t too_long() const { return client_.limit() + 1; }

    AwaitableCalls calls_{client_};
    std::vector<std::string> replies_;
    std::vector<Running> all_;
};
INSTANTIATE_TEST_SUITE_P(Transports, AwaitableCallWithoutAPlace, testing::Values("shm"), transport_name);

Running call_too_long(AwaitableCalls& calls, size_t size) {
    co_await calls.call("x", size, nullptr, 0);
}

TEST_P(AwaitableCallWithoutAPlace, AFailureTakesNobodyElsesText) {
    take_all_places("no");
    const Running refused = call_too_long(calls_, too_long());
    wait_for_all();
    EXPECT_EQ(refused.status(), IPC_MESSAGE_TOO_LARGE);
    EXPECT_EQ(all_[0].status(), IPC_HANDLER_FAILED);
    EXPECT_NE(all_[0].text().find("refused"), std::string::npos) << all_[0].text();
    for (size_t i = 1; i < all_.size(); ++i) EXPECT_EQ(all_[i].status(), IPC_OK);
}

// What awaits may be destroyed by whoever is resumed: a failure that ends its siblings, say.
Running call_and_end(AwaitableCalls& calls, size_t size, int* ended, std::optional<Running>* first,
                     std::optional<Running>* second) {
    std::string reply(100, '\0');
    (void)co_await calls.try_call("yes", size, reply.data(), reply.size());
    ++*ended;
    first->reset();
    second->reset();
}

TEST_P(AwaitableCallWithoutAPlace, OneThatFailsMayDestroyOthersThatDoAtTheSameMoment) {
    std::optional<Running> first, second, third;
    int ended = 0;
    first.emplace(call_and_end(calls_, 3, &ended, &second, &third));
    take_all_places("yes");
    all_.pop_back(); // one place more than there are: it waits for one, and is given up
    second.emplace(call_and_end(calls_, too_long(), &ended, &first, &third));
    third.emplace(call_and_end(calls_, too_long(), &ended, &first, &second));
    wait_for_all();
    EXPECT_EQ(ended, 1) << "the first to be resumed ends the two others";
    EXPECT_EQ(first.has_value() + second.has_value() + third.has_value(), 1);
}

#if !defined(_WIN32)
// An event loop: nothing blocks but poll().
TEST(AwaitableCallInALoop, IsResumedWhenTheDescriptorIsReadable) {
    Listener listener(fresh_address("unix"));
    Channel client, server;
    std::thread connecting([&] { client = Channel::connect(listener.address(), patience_ms); });
    server = listener.accept(patience_ms);
    connecting.join();
    std::thread serving(
        [&] { (void)server.try_serve([](Bytes request, ReplyWriter& reply) { reply.write(request.text()); }); });
    AwaitableCalls calls(client);
    std::vector<Running> all;
    for (uint32_t i = 0; i < 50; ++i) all.push_back(call_twice(calls, i * 2, 10));
    while (calls.under_way() > 0) {
        if (calls.poll() > 0) continue;
        pollfd waiting{static_cast<int>(client.descriptor()), POLLIN, 0};
        ASSERT_EQ(::poll(&waiting, 1, patience_ms), 1);
    }
    for (const Running& each : all) each.rethrow();
    client.close();
    serving.join();
}
#endif

} // namespace
} // namespace ipc::test
