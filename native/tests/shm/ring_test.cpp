#include "ring_records.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

TEST(Ring, KeepsEveryLengthAndOrder) {
    SegmentPair segments = make_segment_pair();
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    for (uint32_t length = 0; length < 300; ++length) {
        write(writer, pattern(length, length), length + 1);
        expect_read(reader, pattern(length, length), length + 1);
    }
}

// The sequences are the low 32 bits of positions that never end: nothing may happen when they come round.
TEST(Ring, PositionsCrossTheEndOf32Bits) {
    for (uint64_t first : {(uint64_t{1} << 32) - 40, (uint64_t{5} << 32) - 1, UINT64_MAX - 40}) {
        first &= ~uint64_t{15}; // the slots' sequences are 0 at first, as in a new ring
        SegmentPair segments = make_segment_pair();
        segments.client->outgoing().slots_read.store(first);
        RingWriter writer(*segments.client, first);
        RingReader reader(*segments.server, first);
        for (uint32_t i = 0; i < 200; ++i) {
            write(writer, pattern(i % 70, i), i + 1);
            expect_read(reader, pattern(i % 70, i), i + 1);
        }
    }
}

TEST(Ring, RefusesRoomWhenFullAndGivesItBack) {
    SegmentPair segments = make_segment_pair({.slots = 4, .data_bytes = 4096});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    for (uint32_t i = 0; i < 4; ++i) write(writer, pattern(8, i), i);
    EXPECT_EQ(IPC_TIMED_OUT, writer.wait_for_slots(8, at_once));
    for (uint32_t i = 0; i < 4; ++i) expect_read(reader, pattern(8, i), i);
    EXPECT_EQ(IPC_OK, writer.wait_for_data(2048, at_once));
}

TEST(Ring, RandomTrafficOfAllSizesSurvivesManyLaps) {
    SegmentPair segments = make_segment_pair({.slots = 8, .data_bytes = 8192});
    RingWriter writer(*segments.server); // the other direction, too
    RingReader reader(*segments.client);
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

// Every order of a few records in a small ring, each of which leaves in its later slots the sequences that are due there one to
// three laps later; read at once, or only when there is no more room.
TEST(Ring, NoOrderOfRecordsLeavesASequenceWhereOneIsDue) {
    constexpr uint64_t slots = 8;
    constexpr uint32_t records = 6, choices = 4; // messages of 1 to 4 slots
    SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 4096});
    const ipc::shm::RingMemory memory = ipc::shm::ring_memory(*segments.client, 0);
    for (uint32_t order = 0; order < 1u << (2 * records); ++order) {
        for (const uint64_t laps : {1u, 2u, 3u}) {
            for (const bool at_once_read : {true, false}) {
                std::memset(static_cast<void*>(memory.slots), 0, slots * sizeof(ipc::shm::Slot));
                segments.server->incoming().slots_read.store(0);
                RingWriter writer(*segments.client);
                RingReader reader(*segments.server);
                uint64_t position = 0;
                std::vector<size_t> under_way;
                const auto read_all = [&] {
                    RingReader::Record record;
                    for (const size_t length : under_way) {
                        ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once));
                        ASSERT_EQ(length, record.length);
                        reader.consume(record);
                    }
                    under_way.clear();
                    ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once))
                        << "order " << order << ", laps " << laps;
                };
                for (uint32_t i = 0; i < 2 * records; ++i) {
                    const uint64_t count = 1 + (order >> 2 * (i % records)) % choices;
                    const size_t length = static_cast<size_t>(count) * sizeof(ipc::shm::Slot) - 16;
                    if (writer.wait_for_slots(length, at_once) != IPC_OK) {
                        read_all();
                        ASSERT_EQ(IPC_OK, writer.wait_for_slots(length, at_once));
                    }
                    if (position % slots + count > slots) position += slots - position % slots;
                    for (uint64_t j = 1; j < count; ++j) {
                        const uint64_t lie = ipc::shm::sequence_of(position + j + laps * slots);
                        std::memcpy(writer.slot_room() + 64 * j - 16, &lie, sizeof lie);
                    }
                    writer.publish_in_slots(1, i, length);
                    under_way.push_back(length);
                    position += count;
                    if (at_once_read) read_all();
                    if (HasFatalFailure()) return;
                }
                read_all();
                if (HasFatalFailure()) return;
            }
        }
    }
}

// What a message left in its later slots must never pass for the sequence of a later message.
TEST(Ring, BytesThatLookLikeSequencesAreNone) {
    for (uint32_t lap_length : {1u, 2u, 3u}) {
        SegmentPair segments = make_segment_pair({.slots = 8, .data_bytes = 8192});
        RingWriter writer(*segments.client);
        RingReader reader(*segments.server);
        uint64_t position = 0;
        for (uint32_t i = 0; i < 1000; ++i) {
            const size_t length = 48 + 64 * (lap_length - 1) + i % 64;
            std::vector<std::byte> bytes(length);
            // In each place where a slot's first word will be: the sequences that slot would have in the next laps.
            for (size_t at = 48; at + 8 <= length; at += 64) {
                const uint64_t slot = position + 1 + (at - 48) / 64;
                const uint64_t lie = ipc::shm::Slot::word(ipc::shm::sequence_of(slot + 8), 7);
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

// A batch of messages of one length is one record, which can be taken in portions and one by one.
TEST(Ring, MessagesOfOneLengthTravelAsOneRecord) {
    SegmentPair segments = make_segment_pair({.slots = 16, .data_bytes = 65536});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    for (int lap = 0; lap < 100; ++lap) {
        std::vector<std::byte> messages;
        for (uint32_t i = 0; i < 64; ++i) {
            const auto message = pattern(32, i);
            messages.insert(messages.end(), message.begin(), message.end());
        }
        const std::vector<uint32_t> lengths(64, 32);
        size_t wanted;
        ASSERT_EQ(64u,
                  writer.publish_many(1, messages.data(), lengths.data(), lengths.size(), &wanted)); // into 16 slots
        std::byte buffer[64 * 32];
        uint32_t taken[64];
        ASSERT_EQ(5u, reader.take_many(1, buffer, sizeof buffer, taken, 5));
        EXPECT_EQ(0, std::memcmp(buffer, messages.data(), 5 * 32));
        expect_read(reader, pattern(32, 5), 0);
        ASSERT_EQ(2u, reader.take_many(1, buffer, 95, taken, 64)) << "no more whole messages than there is room for";
        EXPECT_EQ(0u, reader.take_many(1, buffer, 31, taken, 64));
        EXPECT_EQ(0u, reader.take_many(2, buffer, sizeof buffer, taken, 64)) << "of another kind";
        ASSERT_EQ(56u, reader.take_many(1, buffer, sizeof buffer, taken, 64));
        EXPECT_EQ(0, std::memcmp(buffer, messages.data() + 8 * 32, 56 * 32));
        EXPECT_EQ(32u, taken[55]);
        RingReader::Record record;
        ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
    }
}

TEST(Ring, BatchesKeepOrderAndStopWhereTheyMust) {
    SegmentPair segments = make_segment_pair({.slots = 16, .data_bytes = 8192});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    std::mt19937 random(11);
    std::vector<std::vector<std::byte>> under_way;
    uint32_t number = 0, taken = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2) {
            std::vector<std::byte> messages;
            std::vector<uint32_t> lengths;
            std::vector<std::vector<std::byte>> each;
            const size_t of_all = random() % 150;
            const bool alike = random() % 2 != 0;
            for (size_t i = 0, count = random() % 20; i < count; ++i) {
                each.push_back(pattern(alike ? of_all : random() % 150, number + static_cast<uint32_t>(i)));
                messages.insert(messages.end(), each.back().begin(), each.back().end());
                lengths.push_back(static_cast<uint32_t>(each.back().size()));
            }
            size_t wanted;
            const size_t sent = writer.publish_many(1, messages.data(), lengths.data(), lengths.size(), &wanted);
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
            // None taken: there is none, or the next one is too long for the buffer.
            if (count == 0) {
                ASSERT_EQ(taken == number ? IPC_TIMED_OUT : IPC_OK, reader.wait_for_record(&record, at_once));
            }
        }
    }
    EXPECT_GT(taken, 10'000u);
}
