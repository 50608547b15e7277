// Many calls in flight on one channel, through the C ABI and ipc.hpp.
#include "ipc/ipc.hpp"
#include "support.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <random>

namespace lifetime {
namespace {

class InFlight : public OverTransports {
  protected:
    void SetUp() override {
        OverTransports::SetUp();
        ends_ = std::make_unique<Pair>(listener_);
        ASSERT_TRUE(ends_->good());
        client_ = ends_->client;
        server_ = ends_->server;
    }
    void TearDown() override {
        ends_.reset();
        OverTransports::TearDown();
    }

    static std::string request_of(uint64_t number) { return "request " + std::to_string(number); }
    static std::string reply_of(const std::string& request) { return request + ", answered"; }

    // One completion, which must be a call's.
    ipc::Completion complete(std::string* reply) {
        ipc::Completion done;
        reply->resize(1 << 16);
        const ipc_status status =
            ipc_complete(client_, &done.tag, &done.outcome, reply->data(), reply->size(), &done.size, patience_ms);
        EXPECT_EQ(status, IPC_OK) << ipc_last_error();
        reply->resize(done.size);
        return done;
    }

    // Takes in `count` requests and answers them in an order of its own.
    void answer_out_of_order(size_t count, unsigned seed) {
        std::vector<std::pair<uint64_t, std::string>> waiting;
        for (size_t i = 0; i < count; ++i) waiting.push_back(take_request());
        std::shuffle(waiting.begin(), waiting.end(), std::mt19937(seed));
        for (const auto& [token, request] : waiting) {
            const std::string reply = reply_of(request);
            ASSERT_EQ(ipc_reply_deferred(server_, token, reply.data(), reply.size(), patience_ms), IPC_OK)
                << ipc_last_error();
        }
    }
    std::pair<uint64_t, std::string> take_request() {
        const void* request = nullptr;
        size_t length = 0;
        uint64_t token = 0;
        EXPECT_EQ(ipc_receive_request(server_, &request, &length, patience_ms), IPC_OK) << ipc_last_error();
        std::string copy(static_cast<const char*>(request), length);
        EXPECT_EQ(ipc_defer_request(server_, &token), IPC_OK) << ipc_last_error();
        return {token, copy};
    }

    // So many calls that the server has received and not answered; their tokens in order.
    std::vector<uint64_t> submit_and_put_off(size_t count) {
        std::vector<uint64_t> tokens;
        std::thread serving([&] {
            for (size_t i = 0; i < count; ++i) tokens.push_back(take_request().first);
        });
        for (uint64_t i = 0; i < count; ++i) EXPECT_EQ(ipc_submit(client_, "x", 1, i, patience_ms), IPC_OK);
        serving.join();
        return tokens;
    }

    std::unique_ptr<Pair> ends_;
    ipc_channel* client_ = nullptr;
    ipc_channel* server_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Transports, InFlight, testing::ValuesIn(transports("channel")), name_of);

TEST_P(InFlight, RepliesComeInAnyOrderAndEachFindsItsTag) {
    for (const size_t count : {size_t{1}, size_t{8}, size_t{64}, size_t{256}}) {
        std::thread serving([&] { answer_out_of_order(count, static_cast<unsigned>(count)); });
        for (uint64_t i = 0; i < count; ++i) {
            const std::string request = request_of(i);
            ASSERT_EQ(ipc_submit(client_, request.data(), request.size(), i * 7, patience_ms), IPC_OK)
                << ipc_last_error();
        }
        std::map<uint64_t, int> seen;
        for (size_t i = 0; i < count; ++i) {
            std::string reply;
            const ipc::Completion done = complete(&reply);
            EXPECT_EQ(done.outcome, IPC_OK);
            EXPECT_EQ(reply, reply_of(request_of(done.tag / 7)));
            ++seen[done.tag];
        }
        serving.join();
        EXPECT_EQ(seen.size(), count);
    }
}

// Where a time-out would cut a message, whoever submits takes nothing in (ipc.h): both ways may be full then.
bool submitting_takes_in(const std::string& id) {
#if defined(_WIN32)
    if (id == "pipe") return false;
#endif
    return id != "boost-mq" && id != "iceoryx" && id != "mailslot";
}

// A server that knows nothing of all this.
TEST_P(InFlight, AnOrdinaryServerAnswersInOrder) {
    std::thread serving([&] {
        ipc_serve(
            server_,
            [](void*, const void* request, size_t length, ipc_reply_writer* writer) -> ipc_status {
                void* room = nullptr;
                if (std::string_view(static_cast<const char*>(request), length) == "request 3") {
                    ipc_reply_fail(writer, "not the third");
                    return IPC_OK;
                }
                if (const ipc_status status = ipc_reply_reserve(writer, length, &room)) return status;
                std::copy_n(static_cast<const char*>(request), length, static_cast<char*>(room));
                return IPC_OK;
            },
            nullptr);
    });
    constexpr uint64_t calls = 500;
    const uint64_t window = submitting_takes_in(GetParam()) ? 16 : 2;
    uint64_t submitted = 0;
    for (uint64_t done = 0; done < calls; ++done) {
        for (; submitted < calls && submitted < done + window; ++submitted) {
            const std::string request = request_of(submitted);
            ASSERT_EQ(ipc_submit(client_, request.data(), request.size(), submitted, patience_ms), IPC_OK);
        }
        std::string reply;
        const ipc::Completion completion = complete(&reply);
        EXPECT_EQ(completion.tag, done);
        if (done == 3) {
            EXPECT_EQ(completion.outcome, IPC_HANDLER_FAILED);
            EXPECT_NE(std::string(ipc_last_error()).find("not the third"), std::string::npos) << ipc_last_error();
        } else {
            EXPECT_EQ(completion.outcome, IPC_OK);
            EXPECT_EQ(reply, request_of(done));
        }
    }
    char buffer[16];
    size_t length = 0;
    EXPECT_EQ(ipc_call(client_, "x", 1, buffer, sizeof buffer, &length, patience_ms), IPC_OK) << "one by one again";
    ipc_channel_close(client_);
    serving.join();
}

// One call that stays for long keeps none of the others.
TEST_P(InFlight, ASlowCallHoldsNobodyUp) {
    std::thread serving([&] {
        const auto slow = take_request();
        for (int i = 0; i < 1000; ++i) answer_out_of_order(1, 1);
        ASSERT_EQ(ipc_reply_deferred(server_, slow.first, "late", 4, patience_ms), IPC_OK);
    });
    ASSERT_EQ(ipc_submit(client_, "slow", 4, 12345, patience_ms), IPC_OK);
    std::string reply;
    for (uint64_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(ipc_submit(client_, "quick", 5, i, patience_ms), IPC_OK) << ipc_last_error();
        EXPECT_EQ(complete(&reply).tag, i);
    }
    EXPECT_EQ(complete(&reply).tag, 12345u);
    EXPECT_EQ(reply, "late");
    serving.join();
}

TEST_P(InFlight, OneMoreThanMayBeIsSaidSoAndNotSent) {
    std::thread serving([&] { answer_out_of_order(IPC_MOST_IN_FLIGHT, 5); });
    for (uint64_t i = 0; i < IPC_MOST_IN_FLIGHT; ++i)
        ASSERT_EQ(ipc_submit(client_, "r", 1, i, patience_ms), IPC_OK) << ipc_last_error();
    EXPECT_EQ(ipc_submit(client_, "r", 1, 999, patience_ms), IPC_TOO_MANY_CALLS);
    std::string reply;
    for (uint64_t i = 0; i < IPC_MOST_IN_FLIGHT; ++i) EXPECT_NE(complete(&reply).tag, 999u);
    serving.join();
    std::thread again([&] { answer_out_of_order(1, 5); });
    EXPECT_EQ(ipc_submit(client_, "r", 1, 1000, patience_ms), IPC_OK) << ipc_last_error();
    EXPECT_EQ(complete(&reply).tag, 1000u);
    again.join();
}

TEST_P(InFlight, OneThreadSubmitsAnotherCompletes) {
    constexpr uint64_t calls = 3000;
    constexpr uint64_t window = 100;
    std::atomic<uint64_t> completed{0};
    std::thread serving([&] {
        for (uint64_t i = 0; i < calls / 10; ++i) answer_out_of_order(10, static_cast<unsigned>(i));
    });
    std::thread completing([&] {
        std::string reply;
        for (uint64_t i = 0; i < calls; ++i, ++completed) {
            const ipc::Completion done = complete(&reply);
            EXPECT_EQ(reply, reply_of(request_of(done.tag)));
        }
    });
    for (uint64_t i = 0; i < calls; ++i) {
        while (i >= completed + window) std::this_thread::yield();
        const std::string request = request_of(i);
        ASSERT_EQ(ipc_submit(client_, request.data(), request.size(), i, patience_ms), IPC_OK) << ipc_last_error();
    }
    completing.join();
    serving.join();
}

TEST_P(InFlight, ThreadsOfAServerAnswerByTurns) {
    constexpr size_t calls = 400, threads = 4;
    std::mutex sending, queue_lock;
    std::deque<std::pair<uint64_t, std::string>> queue;
    std::atomic<size_t> answered{0};
    std::vector<std::thread> pool;
    std::thread receiving([&] {
        for (size_t i = 0; i < calls; ++i) {
            auto request = take_request();
            const std::lock_guard lock(queue_lock);
            queue.push_back(std::move(request));
        }
    });
    for (size_t i = 0; i < threads; ++i)
        pool.emplace_back([&] {
            while (answered < calls) {
                std::unique_lock lock(queue_lock);
                if (queue.empty()) {
                    lock.unlock();
                    std::this_thread::yield();
                    continue;
                }
                const auto [token, request] = std::move(queue.front());
                queue.pop_front();
                lock.unlock();
                const std::string reply = reply_of(request);
                const std::lock_guard turn(sending);
                ASSERT_EQ(ipc_reply_deferred(server_, token, reply.data(), reply.size(), patience_ms), IPC_OK);
                ++answered;
            }
        });
    uint64_t submitted = 0;
    std::string reply;
    for (uint64_t done = 0; done < calls; ++done) {
        for (; submitted < calls && submitted < done + 64; ++submitted) {
            const std::string request = request_of(submitted);
            ASSERT_EQ(ipc_submit(client_, request.data(), request.size(), submitted, patience_ms), IPC_OK);
        }
        const ipc::Completion completion = complete(&reply);
        EXPECT_EQ(reply, reply_of(request_of(completion.tag)));
    }
    receiving.join();
    for (std::thread& one : pool) one.join();
}

class FullWays : public InFlight {};
std::vector<std::string> where_submitting_takes_in() {
    std::vector<std::string> all = transports("channel");
    std::erase_if(all, [](const std::string& id) { return !submitting_takes_in(id); });
    return all;
}
INSTANTIATE_TEST_SUITE_P(Transports, FullWays, testing::ValuesIn(where_submitting_takes_in()), name_of);

// Both ways are full: requests of 100 kB to a server that answers each with as many before it receives the next, from a client that
// completes nothing until all are submitted.
TEST_P(FullWays, DoNotStandStill) {
    constexpr size_t size = 100'000;
    constexpr uint64_t calls = 100;
    std::thread serving([&] {
        for (uint64_t i = 0; i < calls; ++i) {
            const void* request = nullptr;
            size_t length = 0;
            ASSERT_EQ(ipc_receive_request(server_, &request, &length, patience_ms), IPC_OK) << ipc_last_error();
            const std::string copy(static_cast<const char*>(request), length);
            ASSERT_EQ(ipc_reply(server_, copy.data(), copy.size(), IPC_FOREVER), IPC_OK) << ipc_last_error();
        }
    });
    for (uint64_t i = 0; i < calls; ++i) {
        const std::string request(size, static_cast<char>('a' + i % 26));
        ASSERT_EQ(ipc_submit(client_, request.data(), request.size(), i, 60'000), IPC_OK) << ipc_last_error();
    }
    std::string reply(size, '\0');
    for (uint64_t i = 0; i < calls; ++i) {
        uint64_t tag = 0;
        ipc_status outcome = IPC_SYSTEM;
        size_t length = 0;
        EXPECT_EQ(ipc_complete(client_, &tag, &outcome, reply.data(), 10, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
        EXPECT_EQ(length, size);
        ASSERT_EQ(ipc_complete(client_, &tag, &outcome, reply.data(), reply.size(), &length, patience_ms), IPC_OK);
        EXPECT_EQ(tag, i);
        EXPECT_EQ(outcome, IPC_OK);
        EXPECT_EQ(reply, std::string(size, static_cast<char>('a' + i % 26)));
    }
    serving.join();
}

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
