// Which slots a writer suspects of a sequence that comes due, and the calls that go back to a ring's first slots.
#include "core/session_in_flight.hpp"
#include "core/session_over.hpp"
#include "core/status.hpp"
#include "ring_records.hpp"

#include <algorithm>
#include <future>
#include <random>

using ipc::Deadline;
using ipc::SessionOver;
using ipc::shm::RingMemory;
using ipc::shm::sequence_of;
using ipc::shm::ShmChannel;
using ipc::shm::Slot;
using ipc::shm::slots_for;

namespace {

// The sequence that each slot behind the first one of a message would have `laps` laps later.
void lie_in_later_slots(std::byte* room, uint64_t position, uint64_t count, uint64_t lap_slots) {
    for (uint64_t j = 1; j < count; ++j) {
        const uint64_t lie = sequence_of(position + j + lap_slots);
        std::memcpy(room + sizeof(Slot) * j - (sizeof(Slot) - Slot::first_bytes), &lie, sizeof lie);
    }
}

size_t bytes_of(uint64_t slots) {
    return static_cast<size_t>(slots) * sizeof(Slot) - (sizeof(Slot) - Slot::first_bytes);
}

// A short message, in turn or not: only before one in turn a writer relies on what it remembers, and does not look.
void publish(RingWriter& writer, bool in_turn, uint32_t id, size_t length) {
    if (in_turn)
        writer.publish_in_turn(2, id, length);
    else
        writer.publish_in_slots(1, id, length);
}

void expect_nothing(RingReader& reader) {
    RingReader::Record record;
    EXPECT_EQ(IPC_TIMED_OUT, reader.wait_for_record(&record, at_once));
}

} // namespace

// A slot that was passed over again and again may still hold the sequence of 2^32 slots before.
TEST(SuspectSlots, AnEraEndsBeforeItsSequencesComeAgain) {
    constexpr uint64_t slots = 8, era = uint64_t{1} << 31;
    struct Case {
        uint64_t end;
        bool in_turn;
    };
    for (const auto [end, in_turn] : {Case{era, true}, Case{era, false}, Case{2 * era, true}, Case{7 * era, true}}) {
        const uint64_t first = end - 2 * slots;
        SegmentPair segments = make_segment_pair({.slots = slots, .data_bytes = 4096});
        segments.client->outgoing().slots_read.store(first);
        RingWriter writer(*segments.client, first);
        RingReader reader(*segments.server, first);
        const RingMemory memory = ipc::shm::ring_memory(*segments.client, 0);
        memory.slot(7).sequence_and_length = Slot::word(sequence_of(end + 7), 5);
        uint32_t id = 0;
        const auto exchange = [&, in_turn = in_turn](uint64_t count) {
            ++id;
            const auto bytes = pattern(bytes_of(count), id);
            ASSERT_EQ(IPC_OK, writer.wait_for_slots(bytes.size(), at_once));
            std::memcpy(writer.slot_room(), bytes.data(), bytes.size());
            publish(writer, in_turn, id, bytes.size());
            expect_read(reader, pattern(bytes_of(count), id), id);
        };
        exchange(4);
        exchange(2);
        exchange(4);
        exchange(2);
        // Four more do not go before the ring's end: slot 7 is passed over, in this lap as in the one before.
        exchange(4);
        exchange(1);
        exchange(1);
        exchange(1);
        expect_nothing(reader);
        exchange(1);
        expect_nothing(reader);
    }
}

// Whoever reserved more than was sent may have written to all of it.
TEST(SuspectSlots, RoomThatWasNotUsedWholeLeavesNoSequence) {
    for (uint64_t reserved = 1; reserved <= 4; ++reserved) {
        for (uint64_t used = 1; used <= reserved; ++used) {
            for (const bool in_turn : {false, true}) {
                SegmentPair segments = make_segment_pair({.slots = 8, .data_bytes = 4096});
                RingWriter writer(*segments.client);
                RingReader reader(*segments.server);
                ASSERT_EQ(IPC_OK, writer.wait_for_slots(bytes_of(reserved), at_once));
                lie_in_later_slots(writer.slot_room(), 0, reserved, 0);
                publish(writer, in_turn, 1, bytes_of(used));
                RingReader::Record record;
                ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once));
                reader.consume(record);
                expect_nothing(reader);
            }
        }
    }
}

// The room that a handler has ready, which it may fill and then not send.
TEST(SuspectSlots, RoomThatWasReadyLeavesNoSequence) {
    for (uint64_t used = 1; used <= 4; ++used) {
        for (const bool told : {true, false}) {
            for (const bool in_turn : {false, true}) {
                SegmentPair segments = make_segment_pair({.slots = 8, .data_bytes = 4096});
                RingWriter writer(*segments.client);
                RingReader reader(*segments.server);
                ASSERT_EQ(bytes_of(4), writer.ready_bytes());
                lie_in_later_slots(writer.slot_room(), 0, told ? used : 4, 0);
                if (told) writer.used_of_ready(bytes_of(used));
                publish(writer, in_turn, 1, bytes_of(1));
                RingReader::Record record;
                ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once));
                reader.consume(record);
                expect_nothing(reader);
            }
        }
    }
}

// Both ends play: short calls one after another never leave the first slots, and nothing else disturbs that for long.
TEST(Turns, CallsStayInTheFirstSlots) {
    SegmentPair segments = make_segment_pair({.slots = 1024});
    RingWriter asks(*segments.client), answers(*segments.server);
    RingReader asked(*segments.server), answered(*segments.client);
    const RingMemory requests = ipc::shm::ring_memory(*segments.client, 0);
    uint32_t id = 0;
    const auto call = [&](size_t length) {
        ++id;
        RingReader::Record record;
        ASSERT_TRUE(answered.try_to_tell());
        ASSERT_EQ(IPC_OK, asks.wait_for_slots(length, at_once)) << "call " << id;
        const auto offset = asks.slot_room() - reinterpret_cast<std::byte*>(requests.slots);
        ASSERT_LT(static_cast<uint64_t>(offset) / sizeof(Slot), RingMemory::slots_of_turns) << "call " << id;
        asks.publish_in_turn(2, id, length);
        ASSERT_EQ(IPC_OK, asked.wait_for_record(&record, at_once));
        ASSERT_TRUE(record.in_turn() && record.id == id && record.length == length);
        answers.turn_came();
        ASSERT_EQ(IPC_OK, answers.wait_for_slots(length, at_once));
        ASSERT_TRUE(asked.try_to_tell(slots_for(record.length)));
        answers.publish_in_turn(3, id, length);
        asked.consume(record);
        ASSERT_EQ(IPC_OK, answered.wait_for_record(&record, at_once));
        ASSERT_TRUE(record.in_turn() && record.id == id);
        asks.turn_came();
        answered.consume(record);
    };
    for (int i = 0; i < 10'000; ++i) {
        call(static_cast<size_t>(i % 113));
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(0u, segments.client->outgoing().writer_parked.load());
}

// An end that has gone back to the first slot has room there only as far as the other one has read, and as soon as that gives back.
TEST(Turns, WhoHasGoneBackWaitsForWhatWasNotRead) {
    SegmentPair segments = make_segment_pair({.slots = 16});
    RingWriter writer(*segments.client);
    RingReader reader(*segments.server);
    RingReader::Record record;
    for (uint32_t i = 1; i < RingMemory::slots_of_turns; ++i) {
        ASSERT_EQ(IPC_OK, writer.wait_for_slots(8, at_once));
        writer.publish_in_turn(2, i, 8);
        ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once));
        EXPECT_EQ(ipc::shm::flag_in_turn, record.kind_and_flags & ipc::shm::turn_flags);
        reader.consume(record);
        writer.turn_came(); // as if it had been answered
    }
    ASSERT_EQ(IPC_OK, writer.wait_for_slots(8, at_once));
    writer.publish_in_turn(2, 100, 8);
    for (uint32_t i = 1; i < RingMemory::slots_of_turns; ++i) write(writer, pattern(8, i), 100 + i);
    EXPECT_EQ(IPC_TIMED_OUT, writer.wait_for_slots(8, at_once)) << "over the message that has not been read";
    ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once));
    EXPECT_EQ(100u, record.id);
    EXPECT_EQ(ipc::shm::turn_flags, record.kind_and_flags & ipc::shm::turn_flags);
    reader.consume(record);
    for (uint32_t i = 1; i < RingMemory::slots_of_turns; ++i) expect_read(reader, pattern(8, i), 100 + i);
    expect_nothing(reader); // and gives back
    for (uint32_t i = 0; i < 10; ++i) write(writer, pattern(8, i), 200 + i);
    for (uint32_t i = 0; i < 10; ++i) expect_read(reader, pattern(8, i), 200 + i);
}

namespace {

// The request with each byte one higher, of a length that depends on it.
size_t reply_length(uint32_t seed) {
    return seed % 5 == 0 ? seed % 3000 : seed % 97 == 1 ? 40'000 + seed % 100'000 : seed % 120;
}

} // namespace

// All lengths in both directions, calls and calls in flight, some given up before they are answered: every answer is the right one.
class TurnsOver : public testing::TestWithParam<uint32_t> {};

TEST_P(TurnsOver, EveryCallGetsItsAnswer) {
    ChannelPair pair = make_channel_pair({.slots = GetParam()});
    SessionOver<ShmChannel> server(std::move(pair.server)), client(std::move(pair.client));
    auto serving = std::async(std::launch::async, [&] {
        while (true) {
            const void* request = nullptr;
            size_t length = 0;
            const ipc::Status s = server.receive_request(&request, &length, Deadline(20'000));
            if (s) return s;
            uint32_t seed = 0;
            std::memcpy(&seed, request, sizeof seed);
            if (pattern(length - sizeof seed, seed) !=
                std::vector<std::byte>(static_cast<const std::byte*>(request) + sizeof seed,
                                       static_cast<const std::byte*>(request) + length))
                return ipc::fail(IPC_INVALID_ARGUMENT, "request %u was damaged", seed);
            if (seed % 501 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
            if (seed % 61 == 7) {
                if (const ipc::Status failed = server.fail_request("no", forever)) return failed;
                continue;
            }
            const auto reply = pattern(reply_length(seed), seed + 1);
            if (seed % 3 == 0) {
                void* room = nullptr;
                if (const ipc::Status r = server.reserve_reply(reply.size() + seed % 70, &room, forever)) return r;
                if (!reply.empty()) std::memcpy(room, reply.data(), reply.size());
                if (const ipc::Status c = server.commit_reply(reply.size(), forever)) return c;
            } else if (const ipc::Status r = server.reply(reply.data(), reply.size(), forever)) {
                return r;
            }
        }
    });
    std::mt19937 random(11);
    std::vector<std::byte> reply(200'000);
    int given_up = 0;
    for (uint32_t seed = 1; seed < 12'000; ++seed) {
        const bool impatient = seed % 501 == 0; // with short requests: half of a long one would end the channel
        const size_t length = impatient            ? seed % 100
                              : random() % 20 == 0 ? random() % 100'000
                              : random() % 4 == 0  ? random() % 2500
                                                   : random() % 110;
        std::vector<std::byte> request(sizeof seed + length);
        std::memcpy(request.data(), &seed, sizeof seed);
        const auto body = pattern(length, seed);
        if (length != 0) std::memcpy(request.data() + sizeof seed, body.data(), length);
        size_t got = 0;
        const ipc::Status s = client.call(request.data(), request.size(), reply.data(), reply.size(), &got,
                                          Deadline(impatient ? 1 : 20'000));
        if (s == IPC_TIMED_OUT && impatient) {
            ++given_up;
            continue;
        }
        if (seed % 61 == 7) {
            ASSERT_EQ(IPC_HANDLER_FAILED, s) << seed;
            continue;
        }
        ASSERT_EQ(IPC_OK, s) << "call " << seed << ": " << ipc::last_error();
        ASSERT_EQ(pattern(reply_length(seed), seed + 1),
                  std::vector<std::byte>(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(got)))
            << "call " << seed;
    }
    EXPECT_GT(given_up, 0);
    client.close();
    EXPECT_EQ(IPC_PEER_CLOSED, serving.get()) << ipc::last_error();
}

INSTANTIATE_TEST_SUITE_P(Slots, TurnsOver, testing::Values(8u, 16u, 64u, 256u, 4096u));
