// Sending frames and closing, seen from a peer that reads raw bytes.
#include "frame_stream_fixture.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace ipc {
namespace {

using test::interesting_lengths;
using test::Kind;
using test::limit;
using test::pattern;

class FrameStreamSend : public test::FrameStreamFixture {};

INSTANTIATE_TEST_SUITE_P(Streams, FrameStreamSend, testing::ValuesIn(test::stream_kinds()), test::kind_name);

TEST_P(FrameStreamSend, BytesSentAreTheOnesOfTheDocument) {
    for (const size_t length : interesting_lengths) {
        const auto payload = pattern(length);
        std::vector<std::byte> arrived;
        std::thread reader([&] { arrived = drain(2 * (frame_header_size + length)); });
        EXPECT_EQ(channel_->send(FrameKind::request, 7, payload.data(), length, Deadline(5000)), IPC_OK);
        void* room = nullptr;
        EXPECT_EQ(channel_->reserve(length + 10, &room, Deadline(0)), IPC_OK);
        if (length != 0) std::memcpy(room, payload.data(), length);
        EXPECT_EQ(channel_->commit(FrameKind::reply, 0x01020304, length, Deadline(5000)), IPC_OK);
        reader.join();
        auto expected = frame(payload, FrameKind::request, 7);
        const auto second = frame(payload, FrameKind::reply, 0x01020304);
        expected.insert(expected.end(), second.begin(), second.end());
        EXPECT_TRUE(arrived == expected) << length;
    }
    const unsigned char golden[] = {'I', 'P', 'C', '1', 2, 0, 0, 0, 3, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 'h', 'i'};
    EXPECT_EQ(channel_->send(FrameKind::reply, 0x11223344, "hi", 2, Deadline(5000)), IPC_OK);
    const auto bytes = drain(sizeof golden);
    EXPECT_EQ(std::memcmp(bytes.data(), golden, sizeof golden), 0);
}

TEST_P(FrameStreamSend, SendThatNobodyTakesTimesOutAndKeepsTheChannel) {
    const auto small = pattern(1000);
    Status status = IPC_OK;
    size_t sent = 0;
    while (status == IPC_OK) {
        status = test::send(*channel_, small, 20);
        if (status == IPC_OK) ++sent;
    }
    EXPECT_EQ(status, IPC_TIMED_OUT);
    if (!test::takes_small_messages_whole) {
        EXPECT_NE(std::string(last_error()).find("half-way"), std::string::npos) << last_error();
        EXPECT_EQ(test::send(*channel_, small), IPC_TIMED_OUT);
        return;
    }
    EXPECT_NE(std::string(last_error()).find("nothing was sent"), std::string::npos) << last_error();
    std::thread reader([&] { drain(sent * (frame_header_size + small.size())); });
    reader.join();
    EXPECT_EQ(test::send(*channel_, small), IPC_OK);
    EXPECT_TRUE(drain(frame_header_size + small.size()) == frame(small));
}

TEST_P(FrameStreamSend, SendCutHalfWayBreaksBothHalves) {
    Status received = IPC_OK;
    std::thread receiver([&] {
        FrameInfo info{};
        received = channel_->next(&info, Deadline(test::forever));
    });
    const auto message = pattern(limit);
    EXPECT_EQ(test::send(*channel_, message, 50), IPC_TIMED_OUT);
    EXPECT_NE(std::string(last_error()).find("half-way"), std::string::npos);
    receiver.join();
    EXPECT_EQ(received, IPC_TIMED_OUT);
    EXPECT_EQ(test::send(*channel_, pattern(1)), IPC_TIMED_OUT);
    EXPECT_NE(std::string(last_error()).find("half-way"), std::string::npos);
    // The peer finds the beginning of the message, unless its system keeps messages whole, and then the end.
    const auto arrived = drain(limit + frame_header_size);
    if (GetParam() != Kind::message_pipe) {
        EXPECT_GE(arrived.size(), frame_header_size);
    }
    EXPECT_LT(arrived.size(), limit);
}

TEST_P(FrameStreamSend, SendToAPeerThatLeftSaysSoAndLeavesWhatItSent) {
    feed(frame(pattern(11)));
    feed(frame(pattern(12)));
    hang_up();
    Status status = IPC_OK;
    for (int i = 0; i < 100 && status == IPC_OK; ++i) status = test::send(*channel_, pattern(100));
    EXPECT_EQ(status, IPC_PEER_CLOSED);
    EXPECT_EQ(test::send(*channel_, pattern(100)), IPC_PEER_CLOSED);
    std::vector<std::byte> payload;
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_TRUE(payload == pattern(11));
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
}

TEST_P(FrameStreamSend, CloseInterruptsReceiveAndSendFromAnotherThread) {
    const auto message = pattern(limit);
    for (const int32_t timeout_ms : {test::forever, 60000}) {
        constexpr int64_t promised_ms = 100;
        const auto close_both = [&](int64_t& took_ms) {
            SetUp();
            Status received = IPC_OK;
            Status sent = IPC_OK;
            std::thread receiver([&] {
                FrameInfo info{};
                received = channel_->next(&info, Deadline(timeout_ms));
            });
            std::thread sender([&] { sent = test::send(*channel_, message, timeout_ms); });
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            test::Stopwatch stopwatch;
            channel_->close();
            receiver.join();
            sender.join();
            took_ms = stopwatch.ms();
            EXPECT_EQ(received, IPC_CLOSED);
            EXPECT_EQ(sent, IPC_CLOSED);
            EXPECT_EQ(next(), IPC_CLOSED);
            EXPECT_EQ(test::send(*channel_, pattern(1)), IPC_CLOSED);
            channel_->close();
        };
        EXPECT_LT(test::quickest_ms(promised_ms, close_both), promised_ms);
    }
}

TEST_P(FrameStreamSend, ThePeerReadsWhatWasSentBeforeTheEnd) {
    EXPECT_EQ(test::send(*channel_, pattern(100)), IPC_OK);
    channel_->close();
    EXPECT_TRUE(drain(1000) == frame(pattern(100)));
}

} // namespace
} // namespace ipc
