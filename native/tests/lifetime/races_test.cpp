// Close, free and calls from several threads at once: the ways in which programs cancel.
#include "blocked_call.hpp"
#include "support.hpp"

#include <future>
#include <map>

using namespace lifetime;

namespace {

constexpr Call calls[] = {Call::receive, Call::peek, Call::call, Call::receive_request, Call::serve, Call::send};

class Races : public OverTransports {};

// Seen 4: one thread closes, the thread that this wakes frees.
TEST_P(Races, TheThreadThatCloseWakesMayFree) {
    for (int round = 0; round < rounds(200); ++round) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        const Call call = calls[static_cast<size_t>(round) % std::size(calls)];
        ipc_channel*& end = round % 2 == 0 ? pair.client : pair.server;
        ipc_channel* const channel = std::exchange(end, nullptr);
        std::atomic<bool> started{false};
        ipc_status status = IPC_OK;
        std::thread blocked([&] {
            started = true;
            status = block(channel, call);
            ipc_channel_free(channel);
        });
        while (!started) std::this_thread::yield();
        if (round % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 100));
        ipc_channel_close(channel);
        blocked.join();
        ASSERT_EQ(status, IPC_CLOSED) << "round " << round;
    }
}

// Seen 5: one thread frees under the blocked call of another.
TEST_P(Races, FreeUnderABlockedCallWaitsForIt) {
    for (int round = 0; round < rounds(60); ++round) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        const Call call = calls[static_cast<size_t>(round) % std::size(calls)];
        ipc_channel*& end = round % 2 == 0 ? pair.client : pair.server;
        Blocking blocking;
        ipc_status status = IPC_OK;
        std::thread blocked([&] {
            blocking.going_in();
            status = block(end, call, [&] { blocking.came_back(); });
        });
        // It must be inside when free begins, in a call that does not come back before: the next one would use what was freed.
        blocking.await(call == Call::send);
        ipc_channel_free(end);
        blocked.join();
        end = nullptr;
        ASSERT_EQ(status, IPC_CLOSED) << "round " << round;
    }
}

TEST_P(Races, AnyNumberOfThreadsCloseWhileOneFrees) {
    for (int round = 0; round < rounds(60); ++round) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        std::atomic<int> ready{0};
        std::vector<std::thread> closers;
        for (int i = 0; i < 3; ++i)
            closers.emplace_back([&] {
                ++ready;
                while (ready < 4) std::this_thread::yield();
                ipc_channel_close(pair.client);
                ipc_channel_close(pair.server);
            });
        char buffer[8];
        size_t length = 0;
        ++ready;
        const ipc_status status = ipc_receive(pair.client, buffer, sizeof buffer, &length, IPC_FOREVER);
        EXPECT_TRUE(status == IPC_CLOSED || status == IPC_PEER_CLOSED) << ipc_last_error();
        for (std::thread& closer : closers) closer.join();
    }
}

// Windows cancels what a thread began when that thread ends, and two who use the channel may notice at once.
TEST_P(Races, TheThreadThatAcceptedMayEndWhileOthersUseTheChannel) {
    constexpr int messages = 100;
    const std::string message(50'000, 'x'); // together more than any transport holds
    for (int round = 0; round < rounds(10); ++round) {
        std::promise<ipc_channel*> accepted;
        std::promise<void> may_end;
        std::thread accepting([&] {
            ipc_channel* channel = nullptr;
            EXPECT_EQ(ipc_accept(listener_, patience_ms, &channel), IPC_OK) << ipc_last_error();
            accepted.set_value(channel);
            may_end.get_future().wait();
        });
        ipc_channel* client = nullptr;
        EXPECT_EQ(ipc_connect(ipc_listener_address(listener_), patience_ms, &client), IPC_OK) << ipc_last_error();
        ipc_channel* const server = accepted.get_future().get();
        char buffer[8];
        size_t length = 0;
        std::thread receiving([&] {
            EXPECT_EQ(ipc_receive(server, buffer, sizeof buffer, &length, patience_ms), IPC_OK) << ipc_last_error();
        });
        std::thread sending([&] {
            for (int i = 0; i < messages; ++i)
                ASSERT_EQ(ipc_send(server, message.data(), message.size(), patience_ms), IPC_OK) << ipc_last_error();
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(round)); // both wait, or one, or none
        may_end.set_value();
        accepting.join();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(ipc_send(client, "end", 3, patience_ms), IPC_OK) << ipc_last_error();
        std::string received(message.size(), ' ');
        for (int i = 0; i < messages && !HasFailure(); ++i) {
            size_t size = 0;
            EXPECT_EQ(ipc_receive(client, received.data(), received.size(), &size, patience_ms), IPC_OK)
                << ipc_last_error();
        }
        receiving.join();
        ipc_channel_free(client);
        sending.join();
        ipc_channel_free(server);
        if (HasFailure()) break;
    }
}

ipc_status IPC_CALL freeing_handler(void* user, const void*, size_t, ipc_reply_writer* writer) {
    void* room = nullptr;
    if (const ipc_status status = ipc_reply_reserve(writer, 1, &room)) return status;
    ipc_channel_free(static_cast<ipc_channel*>(user));
    *static_cast<char*>(room) = 'x'; // still there
    return IPC_OK;
}

TEST_P(Races, AHandlerMayFreeItsChannel) {
    for (int round = 0; round < rounds(20); ++round) {
        Pair pair(listener_);
        ASSERT_TRUE(pair.good());
        ipc_channel* const server = std::exchange(pair.server, nullptr);
        ipc_status served = IPC_OK;
        std::thread serving([&] { served = ipc_serve(server, freeing_handler, server); });
        char reply[8];
        size_t length = 0;
        const ipc_status status = ipc_call(pair.client, "?", 1, reply, sizeof reply, &length, patience_ms);
        EXPECT_NE(status, IPC_TIMED_OUT) << ipc_last_error();
        serving.join();
        EXPECT_EQ(served, IPC_CLOSED);
    }
}

TEST_P(Races, AfterCloseEverythingSaysClosedAndNothingIsTouched) {
    Pair pair(listener_);
    ASSERT_TRUE(pair.good());
    ASSERT_EQ(ipc_send(pair.client, "here", 4, patience_ms), IPC_OK);
    const void* message = nullptr;
    void* room = nullptr;
    size_t length = 0;
    char buffer[8];
    ASSERT_EQ(ipc_peek(pair.server, &message, &length, patience_ms), IPC_OK);
    ASSERT_EQ(ipc_reserve(pair.server, 8, &room, patience_ms), IPC_OK);
    ipc_channel_close(pair.server);
    EXPECT_EQ(ipc_cancel(pair.server), IPC_OK);
    EXPECT_EQ(ipc_cancel(pair.server), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_commit(pair.server, 8, 0), IPC_CLOSED);
    EXPECT_EQ(ipc_release(pair.server), IPC_OK);
    EXPECT_EQ(ipc_release(pair.server), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_send(pair.server, "x", 1, 0), IPC_CLOSED);
    EXPECT_EQ(ipc_reserve(pair.server, 1, &room, 0), IPC_CLOSED);
    EXPECT_EQ(ipc_receive(pair.server, buffer, sizeof buffer, &length, 0), IPC_CLOSED);
    EXPECT_EQ(ipc_receive_reply(pair.server, buffer, sizeof buffer, &length, 0), IPC_CLOSED);
    EXPECT_EQ(ipc_reply(pair.server, "x", 1, 0), IPC_CLOSED);
    EXPECT_NE(std::string(ipc_last_error()).find("closed here"), std::string::npos) << ipc_last_error();
}

INSTANTIATE_TEST_SUITE_P(Channels, Races, testing::ValuesIn(transports("channel")), name_of);

// Listeners, queues, publishers and subscribers have the same gate.

TEST_P(Races, AListenerMayBeFreedUnderAccept) {
    for (int round = 0; round < rounds(30); ++round) {
        ipc_listener* listener = nullptr;
        ASSERT_EQ(ipc_listen(address_of(GetParam()).c_str(), &listener), IPC_OK) << ipc_last_error();
        Blocking blocking[2];
        std::atomic<int> closed{0};
        std::vector<std::thread> accepting;
        for (Blocking& one : blocking)
            accepting.emplace_back([&] {
                one.going_in();
                ipc_channel* channel = nullptr;
                if (ipc_accept(listener, IPC_FOREVER, &channel) == IPC_CLOSED) ++closed;
            });
        for (const Blocking& one : blocking) one.await();
        ipc_listener_free(listener);
        for (std::thread& thread : accepting) thread.join();
        ASSERT_EQ(closed, 2);
    }
}

} // namespace
