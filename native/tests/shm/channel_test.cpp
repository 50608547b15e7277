#include "core/status.hpp"
#include "segment_pair.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using ipc::FrameInfo;
using ipc::FrameKind;

TEST(ShmChannel, CarriesMessagesOfOneAndOfSeveralRecords) {
    ChannelPair pair = make_channel_pair();
    for (size_t length :
         {0ul, 1ul, 47ul, 48ul, 49ul, 64ul, 4095ul, 32768ul, 32769ul, 65536ul, 65537ul, 200'000ul, 1'000'003ul}) {
        const auto sent = pattern(length, 3);
        std::thread sender(
            [&] { EXPECT_EQ(IPC_OK, pair.client->send(FrameKind::request, 9, sent.data(), length, forever)); });
        FrameInfo info{};
        ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
        EXPECT_EQ(length, info.length);
        EXPECT_EQ(9u, info.id);
        std::vector<std::byte> got(length);
        ASSERT_EQ(IPC_OK, pair.server->take(got.data(), forever));
        EXPECT_EQ(sent, got);
        sender.join();
    }
}

TEST(ShmChannel, ViewAndReleaseOfAllForms) {
    ChannelPair pair = make_channel_pair();
    for (size_t length : {5ul, 500ul, 300'000ul}) {
        const auto sent = pattern(length, 4);
        std::thread sender([&] {
            for (int i = 0; i < 3; ++i)
                EXPECT_EQ(IPC_OK, pair.client->send(FrameKind::message, 0, sent.data(), length, forever));
        });
        for (int i = 0; i < 3; ++i) {
            FrameInfo info{};
            ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
            const void* data = nullptr;
            if (i != 1) { // the second is dropped unseen
                ASSERT_EQ(IPC_OK, pair.server->view(&data, forever));
                EXPECT_EQ(0, std::memcmp(sent.data(), data, length));
            }
            ASSERT_EQ(IPC_OK, pair.server->release());
        }
        sender.join();
    }
}

TEST(ShmChannel, ReservedRoomMayBeCommittedShorter) {
    ChannelPair pair = make_channel_pair();
    for (int lap = 0; lap < 50; ++lap) {
        for (size_t reserved : {40ul, 5000ul, 32768ul, 100'000ul}) {
            for (size_t length : {0ul, 20ul, 48ul, 49ul, 3000ul}) {
                if (length > reserved) continue;
                void* room = nullptr;
                ASSERT_EQ(IPC_OK, pair.client->reserve(reserved, &room, forever));
                const auto bytes = pattern(length, static_cast<unsigned>(lap));
                if (length != 0) std::memcpy(room, bytes.data(), length);
                ASSERT_EQ(IPC_OK, pair.client->commit(FrameKind::message, 0, length, forever));
                FrameInfo info{};
                ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
                ASSERT_EQ(length, info.length);
                std::vector<std::byte> got(length);
                ASSERT_EQ(IPC_OK, pair.server->take(got.data(), forever));
                ASSERT_EQ(bytes, got) << "reserved " << reserved << " committed " << length;
            }
        }
    }
}

TEST(ShmChannel, ATimeOutInTheMiddleOfAMessageLosesNothing) {
    ChannelPair pair = make_channel_pair({.slots = 16, .data_bytes = 65536});
    const size_t length = 300'000; // the ring holds a fifth of it
    const auto sent = pattern(length, 5);
    std::thread sender(
        [&] { EXPECT_EQ(IPC_OK, pair.client->send(FrameKind::message, 0, sent.data(), length, forever)); });
    FrameInfo info{};
    ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
    std::vector<std::byte> got(length);
    ipc::Status s;
    int timed_out = 0;
    while ((s = pair.server->take(got.data(), at_once)) == IPC_TIMED_OUT) {
        std::fill(got.begin(), got.end(),
                  std::byte{0}); // nothing may depend on what an earlier attempt left in the buffer
        ++timed_out;
    }
    EXPECT_EQ(IPC_OK, s) << ipc::last_error();
    EXPECT_EQ(sent, got);
    sender.join();
}

TEST(ShmChannel, ASendThatTimesOutBeforeItBeganLosesNothing) {
    ChannelPair pair = make_channel_pair({.slots = 4, .data_bytes = 65536});
    for (int i = 0; i < 4; ++i) ASSERT_EQ(IPC_OK, pair.client->send(FrameKind::message, 0, "x", 1, at_once));
    EXPECT_EQ(IPC_TIMED_OUT, pair.client->send(FrameKind::message, 0, "y", 1, at_once));
    FrameInfo info{};
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
        ASSERT_EQ(IPC_OK, pair.server->release());
    }
    EXPECT_EQ(IPC_TIMED_OUT, pair.server->next(&info, at_once));
    EXPECT_EQ(IPC_OK, pair.client->send(FrameKind::message, 0, "y", 1, at_once));
}

TEST(ShmChannel, ClosingLetsThePeerReadTheRestFirst) {
    ChannelPair pair = make_channel_pair();
    ASSERT_EQ(IPC_OK, pair.client->send(FrameKind::message, 0, "last", 4, forever));
    pair.client->close();
    FrameInfo info{};
    ASSERT_EQ(IPC_OK, pair.server->next(&info, forever));
    ASSERT_EQ(IPC_OK, pair.server->release());
    EXPECT_EQ(IPC_PEER_CLOSED, pair.server->next(&info, forever));
    EXPECT_EQ(IPC_PEER_CLOSED, pair.server->send(FrameKind::message, 0, "x", 1, forever));
    EXPECT_EQ(IPC_CLOSED, pair.client->next(&info, forever));
}

// What the system refuses is said in one error message; what it grants works like any other memory.
TEST(ShmChannel, HugePagesAndPrefaultingAreHadOrRefused) {
    using namespace ipc::shared_memory;
    for (const MemoryOptions memory : {MemoryOptions{Pages::huge, false}, MemoryOptions{Pages::normal, true}}) {
        Connection ends[2];
        connect_pair(ends);
        Segment* server = nullptr;
        Segment* client = nullptr;
        const ipc::Status offered =
            Segment::offer(ends[0], Layout::slots, 16, 65536, {WaitMode::adaptive, 50'000}, &server, memory);
        if (offered != IPC_OK) {
            EXPECT_EQ(IPC_NOT_AVAILABLE, offered);
            EXPECT_NE(nullptr, std::strstr(ipc::last_error(), memory.prefault ? "prefault=yes" : "pages=huge"))
                << ipc::last_error();
            const Peer left(ends[1], {});
            continue;
        }
        ASSERT_EQ(IPC_OK, Segment::take_up(ends[1], Layout::slots, {WaitMode::adaptive, 50'000}, {}, forever, &client,
                                           {Pages::normal, memory.prefault}))
            << ipc::last_error();
        ipc::shm::ShmChannel sender{std::unique_ptr<Segment>(client), 1 << 20};
        ipc::shm::ShmChannel receiver{std::unique_ptr<Segment>(server), 1 << 20};
        const auto sent = pattern(50'000, 1);
        ASSERT_EQ(IPC_OK, sender.send(FrameKind::message, 0, sent.data(), sent.size(), forever));
        FrameInfo info{};
        ASSERT_EQ(IPC_OK, receiver.next(&info, forever));
        std::vector<std::byte> got(info.length);
        ASSERT_EQ(IPC_OK, receiver.take(got.data(), forever));
        EXPECT_EQ(sent, got);
    }
}

// What the peer says it has read is looked at only where room is short; what is sent from then on must not go, however short.
TEST(ShmChannel, APeerThatHasReadWhatWasNeverWrittenBreaksItForGood) {
    SegmentPair pair = make_segment_pair();
    ipc::shm::ShmChannel client(std::move(pair.client), 64 << 20);
    const auto large = pattern(20'000, 1), small = pattern(20, 2);
    ASSERT_EQ(IPC_OK, client.send(FrameKind::message, 0, large.data(), large.size(), at_once));
    pair.server->incoming().slots_read = 1000;
    ipc::Status status = IPC_OK;
    for (int i = 0; i < 4 && status == IPC_OK; ++i)
        status = client.send(FrameKind::message, 0, large.data(), large.size(), at_once);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, status);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, client.send(FrameKind::message, 0, small.data(), small.size(), at_once));
    EXPECT_NE(nullptr, std::strstr(ipc::last_error(), "never written")) << ipc::last_error();
    FrameInfo info{};
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, client.next(&info, at_once));
}
