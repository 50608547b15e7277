#include "link_pair.hpp"
#include "transports/shm/ring.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using ipc::shm::RingReader;
using ipc::shm::RingWriter;
using ipc::shm::Slot;

namespace {

void write(RingWriter& writer, const std::vector<std::byte>& bytes, uint32_t id) {
    const bool in_data = bytes.size() > Slot::inline_bytes;
    ASSERT_EQ(IPC_OK, writer.wait_for_room(in_data ? bytes.size() : 0, at_once));
    std::byte* room = in_data ? writer.data_room(bytes.size()) : writer.inline_room();
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    writer.publish(1, id, bytes.size(), in_data);
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
    EXPECT_EQ(IPC_TIMED_OUT, writer.wait_for_room(0, at_once));
    for (uint32_t i = 0; i < 4; ++i) expect_read(reader, pattern(8, i), i);
    EXPECT_EQ(IPC_OK, writer.wait_for_room(2048, at_once));
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
        const bool in_data = length > Slot::inline_bytes;
        if (random() % 2 && writer.wait_for_room(in_data ? length : 0, at_once) == IPC_OK) {
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
