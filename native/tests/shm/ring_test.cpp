#include "link_pair.hpp"
#include "transports/shm/ring.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using ipc::shm::RingReader;
using ipc::shm::RingWriter;

namespace {

ipc::Status wait_for_room(RingWriter& writer, size_t length) {
    return length <= writer.longest_in_slots() ? writer.wait_for_slots(length, at_once)
                                               : writer.wait_for_data(length, at_once);
}

void write(RingWriter& writer, const std::vector<std::byte>& bytes, uint32_t id) {
    ASSERT_EQ(IPC_OK, wait_for_room(writer, bytes.size()));
    const bool in_slots = bytes.size() <= writer.longest_in_slots();
    std::byte* room = in_slots ? writer.slot_room() : writer.data_room(bytes.size());
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    if (in_slots)
        writer.publish_in_slots(1, id, bytes.size());
    else
        writer.publish_in_data(1, id, bytes.size());
}

void expect_read(RingReader& reader, const std::vector<std::byte>& bytes, uint32_t id) {
    RingReader::Record record;
    ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once)) << ipc::last_error();
    ASSERT_EQ(bytes.size(), record.length);
    EXPECT_EQ(id, record.id);
    EXPECT_TRUE(bytes.empty() || std::memcmp(bytes.data(), record.bytes, bytes.size()) == 0)
        << "length " << bytes.size();
    reader.consume(record);
}

} // namespace

TEST(Ring, KeepsEveryLengthAndOrder) {
    LinkPair links = make_link_pair();
    RingWriter writer(*links.client);
    RingReader reader(*links.server);
    for (uint32_t length = 0; length < 300; ++length) {
        write(writer, pattern(length, length), length + 1);
        expect_read(reader, pattern(length, length), length + 1);
    }
}

// The stamps are the low 32 bits of positions that never end: nothing may happen when they come round.
TEST(Ring, PositionsCrossTheEndOf32Bits) {
    for (uint64_t first : {(uint64_t{1} << 32) - 40, (uint64_t{5} << 32) - 1, UINT64_MAX - 40}) {
        first &= ~uint64_t{15}; // the slots' stamps are 0 at first, as in a new ring
        LinkPair links = make_link_pair();
        links.client->outgoing().slots_read.store(first);
        RingWriter writer(*links.client, first);
        RingReader reader(*links.server, first);
        for (uint32_t i = 0; i < 200; ++i) {
            write(writer, pattern(i % 70, i), i + 1);
            expect_read(reader, pattern(i % 70, i), i + 1);
        }
    }
}

TEST(Ring, RefusesRoomWhenFullAndGivesItBack) {
    LinkPair links = make_link_pair({.slots = 4, .data_bytes = 4096});
    RingWriter writer(*links.client);
    RingReader reader(*links.server);
    for (uint32_t i = 0; i < 4; ++i) write(writer, pattern(8, i), i);
    EXPECT_EQ(IPC_TIMED_OUT, writer.wait_for_slots(8, at_once));
    for (uint32_t i = 0; i < 4; ++i) expect_read(reader, pattern(8, i), i);
    EXPECT_EQ(IPC_OK, writer.wait_for_data(2048, at_once));
}

TEST(Ring, RandomTrafficOfAllSizesSurvivesManyLaps) {
    LinkPair links = make_link_pair({.slots = 8, .data_bytes = 8192});
    RingWriter writer(*links.server); // the other direction, too
    RingReader reader(*links.client);
    std::mt19937 random(7);
    uint32_t written = 0, read = 0;
    std::vector<size_t> lengths;
    for (int step = 0; step < 100'000; ++step) {
        const size_t length = random() % 3 == 0 ? random() % 4097 : random() % 100;
        if (random() % 2 && wait_for_room(writer, length) == IPC_OK) {
            write(writer, pattern(length, written), written);
            lengths.push_back(length);
            ++written;
        } else if (read < written) {
            expect_read(reader, pattern(lengths[read], read), read);
            ++read;
        } else {
            // An empty ring: looking makes the reader give everything back, which a waiting writer depends on.
            RingReader::Record record;
            EXPECT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
        }
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(read, 10'000u);
}

// What a message left in its later slots must never pass for the stamp of a later message.
TEST(Ring, BytesThatLookLikeStampsAreNone) {
    for (uint32_t lap_length : {1u, 2u, 3u}) {
        LinkPair links = make_link_pair({.slots = 8, .data_bytes = 8192});
        RingWriter writer(*links.client);
        RingReader reader(*links.server);
        uint64_t position = 0;
        for (uint32_t i = 0; i < 1000; ++i) {
            const size_t length = 48 + 64 * (lap_length - 1) + i % 64;
            std::vector<std::byte> bytes(length);
            // In each place where a slot's first word will be: the stamps that slot would have in the next laps.
            for (size_t at = 48; at + 8 <= length; at += 64) {
                const uint64_t slot = position + 1 + (at - 48) / 64;
                const uint64_t lie = ipc::shm::Slot::word(ipc::shm::stamp_of(slot + 8), 7);
                std::memcpy(bytes.data() + at, &lie, sizeof lie);
            }
            if (position % 8 + ipc::shm::slots_for(length) > 8) position += 8 - position % 8;
            write(writer, bytes, i);
            expect_read(reader, bytes, i);
            position += ipc::shm::slots_for(length);
            RingReader::Record record;
            ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once)) << "message " << i;
        }
    }
}

TEST(Ring, BatchesKeepOrderAndStopWhereTheyMust) {
    LinkPair links = make_link_pair({.slots = 16, .data_bytes = 8192});
    RingWriter writer(*links.client);
    RingReader reader(*links.server);
    std::mt19937 random(11);
    std::vector<std::vector<std::byte>> under_way;
    uint32_t number = 0, taken = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2) {
            std::vector<std::byte> messages;
            std::vector<uint32_t> lengths;
            std::vector<std::vector<std::byte>> each;
            for (size_t i = 0, count = random() % 20; i < count; ++i) {
                each.push_back(pattern(random() % 150, number + static_cast<uint32_t>(i)));
                messages.insert(messages.end(), each.back().begin(), each.back().end());
                lengths.push_back(static_cast<uint32_t>(each.back().size()));
            }
            const size_t sent = writer.publish_many(1, messages.data(), lengths.data(), lengths.size());
            number += static_cast<uint32_t>(sent);
            under_way.insert(under_way.end(), each.begin(), each.begin() + static_cast<ptrdiff_t>(sent));
        } else {
            std::byte buffer[1000];
            uint32_t lengths[10];
            const size_t count = reader.take_many(1, buffer, sizeof buffer, lengths, 10);
            const std::byte* at = buffer;
            for (size_t i = 0; i < count; ++i, ++taken) {
                ASSERT_EQ(under_way[taken].size(), lengths[i]);
                ASSERT_TRUE(lengths[i] == 0 || std::memcmp(at, under_way[taken].data(), lengths[i]) == 0);
                at += lengths[i];
            }
            RingReader::Record record;
            // Passes over a skip, which a batch leaves alone.
            if (count == 0) {
                ASSERT_EQ(taken == number ? IPC_TIMED_OUT : IPC_OK, reader.wait_for_record(&record, at_once));
            }
        }
    }
    EXPECT_GT(taken, 10'000u);
}
