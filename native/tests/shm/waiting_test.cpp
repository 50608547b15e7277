#include "core/status.hpp"
#include "segment_pair.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace ipc::shared_memory;
using ipc::FrameInfo;
using ipc::FrameKind;

class Waiting : public testing::TestWithParam<WaitMode> {};
INSTANTIATE_TEST_SUITE_P(AllModes, Waiting, testing::Values(WaitMode::spin, WaitMode::adaptive, WaitMode::block));

// Under ThreadSanitizer this also shows that the orderings carry the payload.
TEST_P(Waiting, PingPongAndStreamsLoseNoWakeUp) {
    ChannelPair pair = make_channel_pair({.slots = 4, .data_bytes = 4096, .wait = GetParam()});
    constexpr uint32_t rounds = 3000;
    std::thread echo([&] {
        for (uint32_t i = 0; i < rounds; ++i) {
            FrameInfo info{};
            ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
            std::vector<std::byte> got(info.length);
            ASSERT_EQ(IPC_OK, pair.server->take(got.data(), forever));
            ASSERT_EQ(IPC_OK, pair.server->send(FrameKind::reply, info.id, got.data(), got.size(), forever));
        }
    });
    for (uint32_t i = 0; i < rounds; ++i) {
        const auto sent = pattern(i % 200, i);
        ASSERT_EQ(IPC_OK, pair.client->send(FrameKind::request, i, sent.data(), sent.size(), forever));
        FrameInfo info{};
        ASSERT_EQ(IPC_OK, pair.client->next(&info, forever));
        ASSERT_EQ(i, info.id);
        std::vector<std::byte> got(info.length);
        ASSERT_EQ(IPC_OK, pair.client->take(got.data(), forever));
        ASSERT_EQ(sent, got);
    }
    echo.join();
    // One way, faster than the reader: the writer has to wait for room again and again.
    std::thread writer([&] {
        for (uint32_t i = 0; i < rounds; ++i)
            ASSERT_EQ(IPC_OK, pair.server->send(FrameKind::message, i, &i, sizeof i, forever));
    });
    for (uint32_t i = 0; i < rounds; ++i) {
        FrameInfo info{};
        ASSERT_EQ(IPC_OK, pair.client->next(&info, forever));
        ASSERT_EQ(sizeof i, info.length);
        ASSERT_EQ(i, info.id);
        std::vector<std::byte> got(info.length);
        ASSERT_EQ(IPC_OK, pair.client->take(got.data(), forever));
        ASSERT_EQ(0, std::memcmp(&i, got.data(), sizeof i));
    }
    writer.join();
}

TEST_P(Waiting, ClosingInterruptsBothEnds) {
    ChannelPair pair = make_channel_pair({.slots = 4, .data_bytes = 4096, .wait = GetParam()});
    ipc::Status reader = IPC_OK, writer = IPC_OK, other_reader = IPC_OK;
    std::thread reading([&] {
        FrameInfo info{};
        reader = pair.server->next(&info, forever);
    });
    std::thread writing([&] {
        while (writer == IPC_OK) writer = pair.server->send(FrameKind::message, 0, "x", 1, forever);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pair.server->close();
    reading.join();
    writing.join();
    EXPECT_EQ(IPC_CLOSED, reader);
    EXPECT_TRUE(writer == IPC_CLOSED) << writer;
    std::thread other([&] {
        FrameInfo info{};
        while ((other_reader = pair.client->next(&info, forever)) == IPC_OK) pair.client->release();
    });
    other.join();
    EXPECT_EQ(IPC_PEER_CLOSED, other_reader);
}

TEST_P(Waiting, TimesOutInTime) {
    ChannelPair pair = make_channel_pair({.wait = GetParam()});
    const auto before = std::chrono::steady_clock::now();
    FrameInfo info{};
    EXPECT_EQ(IPC_TIMED_OUT, pair.server->next(&info, ipc::Deadline(30)));
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
}

// A close() that ran wholly before this side announced that it sleeps found nobody to wake: the announcement must be followed
// by another look. Each wait that misses it costs a slice of 200 ms; the least of three, because a busy machine only adds.
TEST(WaitingRaces, ClosingJustBeforeTheAnnouncementIsNotSleptThrough) {
    for (const bool closed_here : {true, false}) {
        auto least = std::chrono::steady_clock::duration::max();
        for (int attempt = 0; attempt < 3; ++attempt) {
            SegmentPair pair = make_segment_pair({.wait = WaitMode::block});
            Segment& segment = *pair.server;
            std::atomic<uint32_t>& parked = segment.incoming().reader_parked;
            // The first look after the announcement finds all as if the close had come just before it.
            const auto close_before_announcement = [&] {
                if (parked.load() == 0) return false;
                (closed_here ? segment : *pair.client).close();
                parked.store(1);
                return false;
            };
            SpinBudget budget;
            const auto before = std::chrono::steady_clock::now();
            EXPECT_EQ(closed_here ? IPC_CLOSED : IPC_PEER_CLOSED,
                      segment.wait(parked, budget, ipc::Deadline(2000), close_before_announcement));
            least = std::min(least, std::chrono::steady_clock::now() - before);
        }
        EXPECT_LT(least, std::chrono::milliseconds(100)) << (closed_here ? "closed here" : "closed by the peer");
    }
}

// The bound is the thread's own processor time, not the wall's, so a busy machine matters little.
TEST(WaitingIdle, AParkedSideCostsNoProcessorTime) {
    for (WaitMode mode : {WaitMode::adaptive, WaitMode::block}) {
        ChannelPair pair = make_channel_pair({.wait = mode});
        FrameInfo info{};
        // The least of three: what a virtual machine's host takes away while we run is counted as ours, and only adds.
        auto least = thread_time_us() + 1'000'000'000;
        for (int attempt = 0; attempt < 3; ++attempt) {
            const auto before = thread_time_us();
            EXPECT_EQ(IPC_TIMED_OUT, pair.server->next(&info, ipc::Deadline(1000)));
            least = std::min(least, thread_time_us() - before);
        }
#if defined(IPC_ADDRESS_SANITIZER) || defined(IPC_THREAD_SANITIZER)
        constexpr int most = 20'000; // the sanitizers' own work in twenty slices of sleep
#else
        constexpr int most = 1000;
#endif
        EXPECT_LT(least, most) << "microseconds of processor time in an idle second";
    }
}
