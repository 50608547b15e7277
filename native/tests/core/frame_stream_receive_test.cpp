// Receiving frames, fed by hand: what a peer may do, a well-behaved one and a hostile one.
#include "frame_stream_fixture.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace ipc {
namespace {

using test::interesting_lengths;
using test::limit;
using test::pattern;

class FrameStreamReceive : public test::FrameStreamFixture {};

INSTANTIATE_TEST_SUITE_P(Streams, FrameStreamReceive, testing::ValuesIn(test::stream_kinds()), test::kind_name);

TEST_P(FrameStreamReceive, TakesAndViewsEveryLength) {
    for (const bool in_place : {false, true}) {
        for (const size_t length : interesting_lengths) {
            const auto payload = pattern(length, static_cast<unsigned>(length));
            std::thread writer([&] { feed(frame(payload, FrameKind::reply, 9)); });
            EXPECT_EQ(next(), IPC_OK) << test::forever;
            EXPECT_EQ(info_.length, length);
            EXPECT_EQ(info_.kind, FrameKind::reply);
            EXPECT_EQ(info_.id, 9u);
            std::vector<std::byte> copy(length);
            if (in_place) {
                const void* data = nullptr;
                EXPECT_EQ(channel_->view(&data, Deadline(5000)), IPC_OK);
                if (length != 0) std::memcpy(copy.data(), data, length);
                EXPECT_EQ(channel_->release(), IPC_OK);
            } else {
                EXPECT_EQ(channel_->take(copy.data(), Deadline(5000)), IPC_OK);
            }
            writer.join();
            EXPECT_TRUE(copy == payload) << length;
        }
    }
}

TEST_P(FrameStreamReceive, FramesArriveByteByByte) {
    std::thread writer([&] {
        for (unsigned i = 0; i < 20; ++i)
            for (const std::byte byte : frame(pattern(i * 7, i), FrameKind::request, i)) feed(&byte, 1);
    });
    for (unsigned i = 0; i < 20; ++i) {
        std::vector<std::byte> payload(i * 7);
        ASSERT_EQ(next(), IPC_OK);
        ASSERT_EQ(info_.id, i);
        ASSERT_EQ(info_.length, payload.size());
        ASSERT_EQ(channel_->take(payload.data(), Deadline(5000)), IPC_OK);
        EXPECT_TRUE(payload == pattern(i * 7, i));
    }
    writer.join();
}

TEST_P(FrameStreamReceive, ManyFramesInOneFragmentAreParsedApart) {
    std::thread writer([&] {
        std::vector<std::byte> all;
        for (unsigned i = 0; i < 3000; ++i) {
            const auto one = frame(pattern(i % 97, i), FrameKind::message);
            all.insert(all.end(), one.begin(), one.end());
        }
        feed(all);
    });
    std::vector<std::byte> payload;
    for (unsigned i = 0; i < 3000; ++i) {
        ASSERT_EQ(test::receive(*channel_, &payload), IPC_OK);
        ASSERT_TRUE(payload == pattern(i % 97, i)) << i;
    }
    writer.join();
}

TEST_P(FrameStreamReceive, NextTellsTheSameUntilTheFrameIsConsumed) {
    feed(frame(pattern(10), FrameKind::request, 5));
    feed(frame(pattern(20), FrameKind::request, 6));
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(info_.id, 5u);
    }
    const void* first = nullptr;
    const void* again = nullptr;
    EXPECT_EQ(channel_->view(&first, Deadline(0)), IPC_OK);
    EXPECT_EQ(channel_->view(&again, Deadline(0)), IPC_OK);
    EXPECT_EQ(first, again);
    channel_->release();
    ASSERT_EQ(next(), IPC_OK);
    EXPECT_EQ(info_.id, 6u);
}

TEST_P(FrameStreamReceive, GarbageBreaksTheChannelForGood) {
    auto damaged = frame(pattern(4));
    damaged[0] = std::byte{'X'};
    feed(damaged);
    EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL);
    const std::string error_message = last_error();
    EXPECT_NE(error_message.find("test://peer"), std::string::npos);
    EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(last_error(), error_message);
    // The other half repeats it, and the peer sees the end.
    EXPECT_EQ(channel_->send(FrameKind::message, 0, "x", 1, Deadline(5000)), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(last_error(), error_message);
    EXPECT_TRUE(drain(1).empty());
}

TEST_P(FrameStreamReceive, FourWrongBytesAreEnough) {
    feed("GET ", 4);
    EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL);
    EXPECT_TRUE(drain(1).empty());
}

TEST_P(FrameStreamReceive, AMessageCutShortIsRepeatedByBothHalves) {
    const auto whole = frame(pattern(100));
    feed(whole.data(), whole.size() - 1);
    hang_up();
    EXPECT_EQ(next(), IPC_OK);
    std::byte bytes[100];
    EXPECT_EQ(channel_->take(bytes, Deadline(5000)), IPC_TRUNCATED);
    const std::string error_message = last_error();
    EXPECT_EQ(next(), IPC_TRUNCATED);
    EXPECT_EQ(channel_->send(FrameKind::message, 0, "x", 1, Deadline(5000)), IPC_TRUNCATED);
    EXPECT_EQ(last_error(), error_message);
}

TEST_P(FrameStreamReceive, UnknownKindsAreRefused) {
    for (const uint32_t kind : {0u, 5u, 0x01000001u}) {
        SetUp();
        auto damaged = frame(pattern(4));
        store_u32(damaged.data() + 8, kind);
        feed(damaged);
        EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL) << kind;
    }
}

TEST_P(FrameStreamReceive, LengthOverTheLimitIsRefusedBeforeAnythingIsAllocated) {
    std::vector<std::byte> header(frame_header_size);
    write_frame_header(header.data(), FrameKind::message, 0, 0xffffffff);
    feed(header);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
    EXPECT_NE(std::string(last_error()).find("4294967295"), std::string::npos);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
    SetUp();
    write_frame_header(header.data(), FrameKind::message, 0, limit + 1);
    feed(header);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
}

TEST_P(FrameStreamReceive, MemoryGrowsWithWhatArrivesNotWithWhatIsClaimed) {
    std::vector<std::byte> header(frame_header_size);
    write_frame_header(header.data(), FrameKind::message, 0, limit);
    feed(header);
    feed(pattern(100));
    ASSERT_EQ(next(), IPC_OK);
    const size_t before = test::bytes_in_use();
    const void* data = nullptr;
    EXPECT_EQ(channel_->view(&data, Deadline(10)), IPC_TIMED_OUT);
    EXPECT_LT(test::bytes_in_use() - before, 1024u * 1024);
}

TEST_P(FrameStreamReceive, EndBetweenFramesIsAnOrderlyEnd) {
    feed(frame(pattern(10)));
    hang_up();
    std::vector<std::byte> payload;
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
}

TEST_P(FrameStreamReceive, EndInsideAFrameIsTruncation) {
    for (const size_t length : {size_t{100}, size_t{66536}, size_t{500000}}) {
        const auto whole = frame(pattern(length));
        for (const size_t cut : {size_t{1}, size_t{15}, size_t{16}, size_t{17}, whole.size() - 1}) {
            for (const bool in_place : {false, true}) {
                SetUp();
                std::thread writer([&] {
                    feed(whole.data(), cut);
                    hang_up();
                });
                Status status = next();
                std::vector<std::byte> payload(length);
                const void* data = nullptr;
                if (status == IPC_OK)
                    status = in_place ? channel_->view(&data, Deadline(5000))
                                      : channel_->take(payload.data(), Deadline(5000));
                writer.join();
                EXPECT_EQ(status, IPC_TRUNCATED) << length << " cut at " << cut;
                EXPECT_EQ(next(), IPC_TRUNCATED);
            }
        }
    }
}

TEST_P(FrameStreamReceive, TimingOutLosesNothing) {
    for (const size_t length : {size_t{300}, size_t{60000}, size_t{200000}}) {
        const auto payload = pattern(length);
        const auto whole = frame(payload, FrameKind::reply, 3);
        const size_t steps[] = {
            0, 5, frame_header_size, frame_header_size + 10, frame_header_size + length / 2, whole.size()};
        EXPECT_EQ(next(0), IPC_TIMED_OUT);
        for (size_t i = 1; i < 2; ++i) feed(whole.data(), steps[1]);
        EXPECT_EQ(next(0), IPC_TIMED_OUT);
        EXPECT_EQ(next(5), IPC_TIMED_OUT);
        feed(whole.data() + steps[1], steps[2] - steps[1]);
        ASSERT_EQ(next(0), IPC_OK);
        ASSERT_EQ(info_.length, length);
        const void* data = nullptr;
        std::vector<std::byte> first(length);
        std::vector<std::byte> second(length);
        EXPECT_EQ(channel_->take(first.data(), Deadline(5)), IPC_TIMED_OUT);
        feed(whole.data() + steps[2], steps[3] - steps[2]);
        EXPECT_EQ(channel_->take(first.data(), Deadline(0)), IPC_TIMED_OUT);
        std::fill(first.begin(), first.end(), std::byte{0});
        std::thread half([&] { feed(whole.data() + steps[3], steps[4] - steps[3]); });
        EXPECT_EQ(channel_->view(&data, Deadline(50)), IPC_TIMED_OUT);
        half.join();
        EXPECT_EQ(channel_->take(first.data(), Deadline(5)), IPC_TIMED_OUT);
        std::thread rest([&] { feed(whole.data() + steps[4], steps[5] - steps[4]); });
        EXPECT_EQ(channel_->take(second.data(), Deadline(5000)), IPC_OK);
        rest.join();
        EXPECT_TRUE(second == payload) << length;
    }
}

TEST_P(FrameStreamReceive, TimeOutsAreKeptAndLast) {
    test::Stopwatch stopwatch;
    EXPECT_EQ(next(60), IPC_TIMED_OUT);
    EXPECT_GE(stopwatch.ms(), 60);
    EXPECT_LT(stopwatch.ms(), 1000);
    // The limit of the call before must not end one without end.
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        feed(frame(pattern(5)));
    });
    EXPECT_EQ(next(test::forever), IPC_OK);
    writer.join();
}

TEST_P(FrameStreamReceive, FramesReleasedUnseenAreSkippedAsTheyArrive) {
    for (const size_t length : {size_t{200}, size_t{300000}}) {
        const auto whole = frame(pattern(length), FrameKind::reply, 1);
        feed(whole.data(), frame_header_size + 50);
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(channel_->release(), IPC_OK);
        EXPECT_EQ(next(5), IPC_TIMED_OUT);
        std::thread writer([&] {
            feed(whole.data() + frame_header_size + 50, length - 50);
            feed(frame(pattern(3), FrameKind::reply, 2));
        });
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(info_.id, 2u);
        writer.join();
        EXPECT_EQ(channel_->release(), IPC_OK);
    }
}

} // namespace
} // namespace ipc
