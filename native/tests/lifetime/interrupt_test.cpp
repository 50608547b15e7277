// ipc_channel_interrupt: a receiver is called back and its channel stays as it was.
#include "blocked_call.hpp"
#include "support.hpp"

#include <string>
#include <vector>

using namespace lifetime;

namespace {

class Interrupt : public OverTransports {};
class AskedForInterrupt : public OverTransports {};

ipc_status receives(ipc_channel* channel) {
    return block(channel, Call::receive);
}
ipc_status completes(ipc_channel* channel) {
    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    char reply[64];
    size_t length = 0;
    return ipc_complete(channel, &tag, &outcome, reply, sizeof reply, &length, IPC_FOREVER);
}

bool can_be_interrupted(const std::string& transport) {
#ifdef _WIN32
    if (transport == "pipe" || transport == "tcp") return true;
#endif
    return transport == "shm" || transport == "shm-event";
}

std::vector<std::string> those_interrupted() {
    std::vector<std::string> all = transports("channel");
    std::erase_if(all, [](const std::string& transport) { return !can_be_interrupted(transport); });
    return all;
}

std::vector<std::string> ways_to_wait(const std::string& transport) {
    if (transport != "shm" && transport != "shm-event") return {""};
    return {"adaptive", "block", "spin"};
}

// What waits without end for something to come.
const std::function<ipc_status(ipc_channel*)> waits[] = {
    receives, [](ipc_channel* channel) { return block(channel, Call::peek); },
    [](ipc_channel* channel) { return block(channel, Call::receive_request); },
    [](ipc_channel* channel) { return block(channel, Call::serve); }, completes};

TEST_P(Interrupt, CallsEveryReceiverBack) {
    for (const std::string& mode : ways_to_wait(GetParam())) {
        ipc_listener* listener = nullptr;
        const std::string address = address_of(GetParam()) + (mode.empty() ? "" : "&wait=" + mode);
        ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
        Pair pair(listener);
        ASSERT_TRUE(pair.good());
        for (const auto& wait : waits) {
            Blocking blocking;
            ipc_status status = IPC_OK;
            std::thread waiting([&] {
                blocking.going_in();
                status = wait(pair.server);
            });
            if (mode != "spin") blocking.await();
            EXPECT_EQ(ipc_channel_interrupt(pair.server, 1), IPC_OK) << ipc_last_error();
            waiting.join();
            EXPECT_EQ(status, IPC_TIMED_OUT) << mode;
            // Until it is turned off.
            EXPECT_EQ(wait(pair.server), IPC_TIMED_OUT) << mode;
            EXPECT_EQ(ipc_channel_interrupt(pair.server, 0), IPC_OK);
        }
        ipc_listener_free(listener);
    }
}

TEST_P(Interrupt, TakesNothingThatIsThereAndStopsNoSender) {
    Pair pair(listener_);
    ASSERT_TRUE(pair.good());
    ASSERT_EQ(ipc_channel_interrupt(pair.server, 1), IPC_OK);
    ASSERT_EQ(ipc_send(pair.client, "to", 2, patience_ms), IPC_OK);
    EXPECT_EQ(receives(pair.server), IPC_OK);
    ASSERT_EQ(ipc_send(pair.server, "fro", 3, patience_ms), IPC_OK);
    EXPECT_EQ(receives(pair.client), IPC_OK);
    ASSERT_EQ(ipc_channel_interrupt(pair.server, 0), IPC_OK);
    std::thread sending([&] { EXPECT_EQ(ipc_send(pair.client, "late", 4, patience_ms), IPC_OK); });
    EXPECT_EQ(receives(pair.server), IPC_OK);
    sending.join();
}

// Whoever gives up a call drops its late reply, as after a time-out.
TEST_P(Interrupt, GivesACallUp) {
    Pair pair(listener_);
    ASSERT_TRUE(pair.good());
    char reply[64];
    size_t length = 0;
    ipc_status status = IPC_OK;
    std::thread calling([&] { status = ipc_call(pair.client, "one", 3, reply, sizeof reply, &length, IPC_FOREVER); });
    const void* request = nullptr;
    ASSERT_EQ(ipc_receive_request(pair.server, &request, &length, patience_ms), IPC_OK);
    ASSERT_EQ(ipc_channel_interrupt(pair.client, 1), IPC_OK);
    calling.join();
    EXPECT_EQ(status, IPC_TIMED_OUT);
    ASSERT_EQ(ipc_channel_interrupt(pair.client, 0), IPC_OK);
    ASSERT_EQ(ipc_reply(pair.server, "late", 4, patience_ms), IPC_OK);
    std::thread serving([&] {
        size_t its_length = 0;
        const void* second = nullptr;
        EXPECT_EQ(ipc_receive_request(pair.server, &second, &its_length, patience_ms), IPC_OK);
        EXPECT_EQ(ipc_reply(pair.server, "good", 4, patience_ms), IPC_OK);
    });
    EXPECT_EQ(ipc_call(pair.client, "two", 3, reply, sizeof reply, &length, patience_ms), IPC_OK);
    EXPECT_EQ(std::string(reply, length), "good");
    serving.join();
}

// At whatever moment it comes: also between a look and the sleep that follows it.
TEST_P(Interrupt, IsNeverMissed) {
    Pair pair(listener_);
    ASSERT_TRUE(pair.good());
    const int all = rounds(2000);
    std::atomic<int> begun{0}, over{0};
    std::thread receiving([&] {
        for (int round = 1; round <= all; ++round) {
            begun = round;
            EXPECT_EQ(receives(pair.server), IPC_TIMED_OUT);
            EXPECT_EQ(ipc_channel_interrupt(pair.server, 0), IPC_OK);
            over = round;
        }
    });
    for (int round = 1; round <= all; ++round) {
        while (begun != round) std::this_thread::yield();
        if (round % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 100));
        EXPECT_EQ(ipc_channel_interrupt(pair.server, 1), IPC_OK);
        while (over != round) std::this_thread::yield();
    }
    receiving.join();
}

TEST_P(AskedForInterrupt, TheOtherTransportsRefuse) {
    Pair pair(listener_);
    ASSERT_TRUE(pair.good());
    EXPECT_EQ(ipc_channel_interrupt(nullptr, 1), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(ipc_channel_interrupt(pair.client, 0), can_be_interrupted(GetParam()) ? IPC_OK : IPC_NOT_AVAILABLE);
    ipc_channel_close(pair.client);
    EXPECT_EQ(ipc_channel_interrupt(pair.client, 1), IPC_CLOSED);
}

INSTANTIATE_TEST_SUITE_P(Channels, Interrupt, testing::ValuesIn(those_interrupted()), name_of);
INSTANTIATE_TEST_SUITE_P(Channels, AskedForInterrupt, testing::ValuesIn(transports("channel")), name_of);

} // namespace
