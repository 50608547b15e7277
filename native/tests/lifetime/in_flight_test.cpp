// Many calls in flight on one channel, through the C ABI and ipc.hpp: how they are made and answered.
#include "in_flight.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <numeric>

namespace lifetime {
namespace {

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

} // namespace
} // namespace lifetime
