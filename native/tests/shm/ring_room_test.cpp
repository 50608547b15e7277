// How much room a writer finds, and which of a ring's slots it uses: short laps, bursts, and what a reader gives back when.
#include "ring_records.hpp"

#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace {

// What the client's side of a dialogue does besides: its own reader gives back the slots of an answer.
void receive_answer(SegmentPair& segments) {
    segments.client->incoming().slots_read.fetch_add(4);
}

// Writes messages of one slot until there is no room, numbered from `number`, which goes on.
void fill(RingWriter& writer, uint32_t& number) {
    for (; writer.wait_for_slots(8, at_once) == IPC_OK; ++number) write(writer, pattern(8, number), number + 1);
}

void expect_read_up_to(RingReader& reader, uint32_t& number, uint32_t end) {
    for (; number != end; ++number) expect_read(reader, pattern(8, number), number + 1);
}

constexpr uint32_t short_lap = ipc::shm::RingMemory::most_slots_of_short_lap, portion = short_lap / 4;

} // namespace

// Slots that short laps leave out may hold the sequences they will have 2^32 slots later, in this very lap.
TEST(Ring, SlotsLeftOutForLongAreNotMistakenForMessages) {
    constexpr uint64_t slots = 1024;
    for (uint32_t sent : {127u, 128u, 129u, 255u, 256u, 257u, 300u, 511u, 512u, 513u, 767u, 1023u, 1024u}) {
        SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 8192});
        const ipc::shm::RingMemory memory = ipc::shm::ring_memory(*segments.client, 0);
        for (uint64_t position = 1; position < slots; ++position)
            memory.slot(position).sequence_and_length = ipc::shm::Slot::word(ipc::shm::sequence_of(position), 1);
        RingWriter writer(*segments.client);
        RingReader reader(*segments.server);
        for (uint32_t i = 0; i < sent; ++i) write(writer, pattern(8, i), i);
        for (uint32_t i = 0; i < sent; ++i) expect_read(reader, pattern(8, i), i);
        RingReader::Record record;
        ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once)) << sent << " messages";
    }
    // What a short lap passes over before its own end, the next one may look at.
    SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 8192});
    const ipc::shm::RingMemory memory = ipc::shm::ring_memory(*segments.client, 0);
    memory.slot(short_lap).sequence_and_length = ipc::shm::Slot::word(ipc::shm::sequence_of(slots + short_lap), 1);
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    uint32_t number = 0;
    const auto exchange = [&](size_t count, size_t length) {
        for (size_t i = 0; i < count; ++i, ++number) {
            write(writer, pattern(length, number), number);
            expect_read(reader, pattern(length, number), number);
            receive_answer(segments);
        }
    };
    exchange(21, 100); // two slots each: up to slot 42
    exchange(29, 150); // three each: the last one, which would end at 129, begins the next lap
    exchange(short_lap - 3, 1);
    RingReader::Record record;
    ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
}

// Stretches in which the reader keeps up, and others in which the writer is far ahead.
TEST(Ring, LapsOfEveryLengthKeepOrder) {
    for (uint64_t first : {uint64_t{0}, (uint64_t{1} << 32) - 4096}) {
        SegmentPair segments = make_segment_pair({.slots = 1024, .data_bytes = 65536});
        segments.client->outgoing().slots_read.store(first);
        RingWriter writer(*segments.client, first);
        RingReader reader(*segments.server, first);
        std::mt19937 random(13);
        uint32_t written = 0, read = 0;
        const auto length_of = [](uint32_t number) { return number % 7 == 0 ? number % 2000 : number % 60; };
        for (int stretch = 0; stretch < 400; ++stretch) {
            const uint64_t ahead = stretch % 3 == 0 ? random() % 2000 : random() % 4;
            for (auto step = random() % 2000; step != 0; --step) {
                if (written - read <= ahead && wait_for_room(writer, length_of(written)) == IPC_OK) {
                    write(writer, pattern(length_of(written), written), written);
                    ++written;
                } else if (read != written) {
                    expect_read(reader, pattern(length_of(read), read), read);
                    ++read;
                    if (stretch % 2 == 0) receive_answer(segments);
                }
                if (HasFatalFailure()) return;
            }
            for (; read != written; ++read) expect_read(reader, pattern(length_of(read), read), read);
            RingReader::Record record;
            ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
        }
        EXPECT_GT(written, 100'000u);
    }
}

// Calls and other dialogues stay within the nearest caches.
TEST(Ring, ADialogueGoesRoundInTheFirstSlots) {
    constexpr uint64_t slots = 1024;
    SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 8192});
    const ipc::shm::RingMemory memory = ipc::shm::ring_memory(*segments.client, 0);
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    for (uint32_t i = 0; i < 10 * short_lap; ++i) {
        write(writer, pattern(8, i), i);
        expect_read(reader, pattern(8, i), i);
        receive_answer(segments);
    }
    // The slot behind the lap has what ends it.
    for (uint64_t slot = short_lap + 1; slot < slots; ++slot)
        ASSERT_EQ(0u, memory.slot(slot).sequence_and_length.load()) << "slot " << slot;
}

// Whatever was sent before, and wherever in the ring that ended: bursts find room for all but what the reader may keep to itself, and after
// the reader has looked in vain for all.
TEST(Ring, WhoOnlySendsHasAllOfTheRing) {
    constexpr uint32_t slots = 1024;
    SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 8192});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    uint32_t written = 0, read = 0;
    for (uint32_t before = 0; before < 300; ++before) {
        for (uint32_t i = 0; i < before; ++i) {
            write(writer, pattern(8, written), written + 1);
            expect_read_up_to(reader, read, ++written);
        }
        fill(writer, written);
        ASSERT_LT(slots - slots / 4 - 2 * portion, written - read) << before << " messages before";
        expect_read_up_to(reader, read, written);
        RingReader::Record record;
        ASSERT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
        fill(writer, written);
        ASSERT_EQ(slots, written - read) << before << " messages before";
        expect_read_up_to(reader, read, written);
        if (HasFatalFailure()) return;
    }
}

// A fast reader tells of several portions at once; a slow one must not, or whoever waits for room would run into its time-out beside free slots.
TEST(Ring, ASlowReaderTellsOfEachPortion) {
    SegmentPair segments = make_segment_pair({.slots = 1024, .data_bytes = 8192});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    uint32_t written = 0, read = 0;
    fill(writer, written);
    while (read < 2 * short_lap) expect_read_up_to(reader, read, read + portion);
    for (int turn = 0; turn < 3; ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(40)); // no system's coarse clock stands still for so long
        expect_read_up_to(reader, read, read + portion);
        EXPECT_EQ(read, segments.client->outgoing().slots_read.load());
    }
}

TEST(Ring, AWriterThatSleepsIsToldOfEachPortion) {
    SegmentPair segments =
        make_segment_pair({.slots = 1024, .data_bytes = 8192, .wait = ipc::shared_memory::WaitMode::block});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    uint32_t written = 0, read = 0;
    while (read < 3 * short_lap) {
        fill(writer, written);
        auto room = std::async(std::launch::async, [&] { return writer.wait_for_slots(8, forever); });
        while (segments.client->outgoing().writer_parked.load() == 0) std::this_thread::yield();
        expect_read_up_to(reader, read, read + portion);
        const bool told = room.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
        EXPECT_TRUE(told) << "the writer sleeps beside free slots when " << read << " have been read";
        if (!told) segments.client->close();
        ASSERT_EQ(IPC_OK, room.get());
    }
}
