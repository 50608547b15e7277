// A peer that can write anything anywhere in the shared memory: each lie gets a status, none a crash or a hang.
#include "core/status.hpp"
#include "segment_pair.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace ipc::shared_memory;
using ipc::FrameInfo;
using ipc::FrameKind;
using ipc::shm::flag_back;
using ipc::shm::flag_continues;
using ipc::shm::flag_in_data;
using ipc::shm::flag_in_turn;
using ipc::shm::flag_more;
using ipc::shm::flag_run;
using ipc::shm::flag_skip;
using ipc::shm::RingReader;
using ipc::shm::RingWriter;
using ipc::shm::ShmChannel;
using ipc::shm::Slot;
using ipc::shm::turn_flags;

namespace {

// The server's channel and, as the hostile client, the bare mapping.
struct Victim {
    SegmentPair segments = make_segment_pair();
    std::unique_ptr<Segment> client = std::move(segments.client);
    ShmChannel channel{std::move(segments.server), 100'000};

    // Writes a slot as only a broken or hostile peer would.
    void forge(uint64_t position, uint32_t length, uint32_t kind_and_flags, uint64_t total = 0) {
        Slot& slot = ipc::shm::ring_memory(*client, 0).slot(position);
        slot.kind_and_id = Slot::word(kind_and_flags, 1);
        std::memcpy(slot.payload(), &total, sizeof total);
        slot.sequence_and_length = Slot::word(ipc::shm::sequence_of(position), length);
    }
    ipc::Status next() {
        FrameInfo info{};
        return channel.next(&info, at_once);
    }
    ipc::Status take(size_t room) {
        std::vector<std::byte> buffer(room);
        return channel.take(buffer.data(), at_once);
    }
};

} // namespace

TEST(HostilePeer, UnknownKind) {
    for (uint32_t kind : {0u, 5u, 0xFFFFu}) {
        Victim victim;
        victim.forge(0, 4, kind);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << "a broken channel stays broken";
    }
}

TEST(HostilePeer, UnknownFlags) {
    for (uint32_t flags : {0x80000000u, flag_more, flag_continues, flag_skip | flag_in_data, flag_skip | flag_more,
                           flag_in_data | flag_in_turn, flag_skip | turn_flags}) {
        Victim victim;
        victim.forge(0, 4, 1 | flags);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << flags;
    }
}

// It may claim turns that are not its own: that moves its own messages about, and lets this side write over what it has not read.
TEST(HostilePeer, TurnsOutOfTurn) {
    Victim victim;
    uint64_t position = 0;
    uint32_t sent = 0;
    for (uint64_t lap = 0; lap < 100; ++lap) {
        for (uint32_t slots : {1u, 2u, 5u, 1u}) {
            const bool back = slots == 1 && position % 16 != 0;
            const uint32_t length = slots * 64 - 16;
            victim.forge(position, length, 2 | flag_in_turn | (back ? flag_back : 0));
            position = back ? (position / 16 + 1) * 16 : position + slots;
            FrameInfo info{};
            ASSERT_EQ(IPC_OK, victim.channel.next(&info, at_once)) << lap << ": " << ipc::last_error();
            ASSERT_EQ(length, info.length);
            ASSERT_EQ(IPC_OK, victim.take(length));
            // Nobody reads these, and yet they are said to have been read.
            if (victim.channel.send(FrameKind::message, 0, "x", 1, at_once) == IPC_OK) ++sent;
        }
    }
    EXPECT_GE(sent, 16u);
    EXPECT_EQ(IPC_TIMED_OUT, victim.next());
}

TEST(HostilePeer, RunsThatDoNotAddUp) {
    const struct {
        uint32_t length, each;
    } lies[] = {{100, 0}, {0, 10}, {100, 33}, {100, 200}, {UINT32_MAX, 1}, {1u << 20, 16}};
    for (const auto& [length, each] : lies) {
        Victim victim;
        victim.forge(0, length, 1 | flag_in_data | flag_run, each);
        std::byte buffer[1000];
        uint32_t lengths[10];
        EXPECT_EQ(0u, victim.channel.take_many(buffer, sizeof buffer, lengths, 10)) << length << " of " << each;
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << length << " of " << each;
    }
    for (uint32_t flags : {flag_run, flag_run | flag_more | flag_in_data, flag_run | flag_continues | flag_in_data}) {
        Victim victim;
        victim.forge(0, 100, 1 | flags, 10);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << flags;
    }
}

// A run is what it said at first, whatever its slot says later.
TEST(HostilePeer, RunThatChangesWhileItIsRead) {
    Victim victim;
    victim.forge(0, 100, 1 | flag_in_data | flag_run, 10);
    ASSERT_EQ(IPC_OK, victim.next());
    ASSERT_EQ(IPC_OK, victim.take(4096));
    victim.forge(0, UINT32_MAX, 1 | flag_in_data | flag_run, 1000);
    for (int i = 1; i < 10; ++i) {
        ASSERT_EQ(IPC_OK, victim.next());
        ASSERT_EQ(IPC_OK, victim.take(4096));
    }
    EXPECT_EQ(IPC_TIMED_OUT, victim.next());
}

TEST(HostilePeer, MessageInSlotsThatLeavesThem) {
    for (uint32_t length : {500u, 16u * 64u, 70'000u, UINT32_MAX}) { // 16 slots hold at most 8 of one message
        Victim victim;
        victim.forge(0, length, 1);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << length;
    }
    Victim victim;
    for (int i = 0; i < 15; ++i) {
        victim.forge(static_cast<uint64_t>(i), 1, 1);
        ASSERT_EQ(IPC_OK, victim.next());
        ASSERT_EQ(IPC_OK, victim.take(4096));
    }
    victim.forge(15, 49, 1);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
}

TEST(HostilePeer, SkipsThatLeadRoundForEver) {
    Victim victim;
    victim.forge(0, 0, flag_skip);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
    Victim other;
    other.forge(0, 1, 1);
    ASSERT_EQ(IPC_OK, other.next());
    ASSERT_EQ(IPC_OK, other.take(4096));
    other.forge(1, 0, flag_skip);
    EXPECT_EQ(IPC_TIMED_OUT, other.next()) << "nothing follows the skip yet";
    other.forge(16, 0, flag_skip);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, other.next());
}

TEST(HostilePeer, BatchOfDamagedRecords) {
    Victim victim;
    victim.forge(0, 8, 1);
    victim.forge(1, 500, 1);
    std::byte buffer[4096];
    uint32_t lengths[8];
    EXPECT_EQ(1u, victim.channel.take_many(buffer, sizeof buffer, lengths, 8)) << "the damaged one is left for next()";
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
    EXPECT_EQ(0u, victim.channel.take_many(buffer, sizeof buffer, lengths, 8));
}

TEST(HostilePeer, ContinuesNothing) {
    Victim victim;
    victim.forge(0, 100, 1 | flag_in_data | flag_continues);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
}

TEST(HostilePeer, RecordLongerThanHalfTheRing) {
    for (uint32_t length : {32769u, 65536u, UINT32_MAX}) {
        Victim victim;
        victim.forge(0, length, 1 | flag_in_data);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next()) << length;
    }
}

TEST(HostilePeer, MessageOverTheLimit) {
    for (uint64_t total : {uint64_t{100'001}, uint64_t{1} << 40, UINT64_MAX}) {
        Victim victim;
        victim.forge(0, 1000, 1 | flag_in_data | flag_more, total);
        EXPECT_EQ(IPC_PEER_TOO_LARGE, victim.next()) << total;
    }
}

TEST(HostilePeer, MessageShorterThanItsFirstRecord) {
    Victim victim;
    victim.forge(0, 1000, 1 | flag_in_data | flag_more, 999);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.next());
}

TEST(HostilePeer, RecordsThatDoNotAddUp) {
    struct Lie {
        uint32_t second_length, second_flags;
    };
    for (Lie lie : {Lie{2000, flag_continues}, Lie{500, flag_continues}, Lie{0, flag_continues | flag_more},
                    Lie{1000, flag_continues | flag_more}, Lie{1000, 0}}) {
        Victim victim;
        victim.forge(0, 1000, 1 | flag_in_data | flag_more, 2000);
        victim.forge(1, lie.second_length, 1 | flag_in_data | lie.second_flags);
        ASSERT_EQ(IPC_OK, victim.next());
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.take(2000)) << lie.second_length << " " << lie.second_flags;
        EXPECT_NE(IPC_OK, victim.next());
    }
}

TEST(HostilePeer, EndsInTheMiddleOfAMessage) {
    Victim victim;
    victim.forge(0, 1000, 1 | flag_in_data | flag_more, 2000);
    ASSERT_EQ(IPC_OK, victim.next());
    victim.client.reset();
    EXPECT_EQ(IPC_TRUNCATED, victim.take(2000));
    EXPECT_EQ(IPC_TRUNCATED, victim.next());
}

TEST(HostilePeer, SaysItHasReadWhatWasNeverWritten) {
    for (uint64_t lie : {uint64_t{17}, UINT64_MAX, uint64_t{1} << 63}) {
        Victim victim;
        for (int i = 0; i < 16; ++i) ASSERT_EQ(IPC_OK, victim.channel.send(FrameKind::message, 0, "x", 1, at_once));
        victim.client->incoming().slots_read = lie; // the ring the victim writes is the client's incoming one
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, victim.channel.send(FrameKind::message, 0, "x", 1, ipc::Deadline(1000))) << lie;
    }
}
