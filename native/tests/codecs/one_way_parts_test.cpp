// One-way messages without a second process: what they say, and what their receiver notices.
#include "one_way_stretch.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <vector>

namespace ipc::peer::one_way_parts_test {
namespace {

using Message = std::vector<uint8_t>;

Cell cell_of(size_t bytes, uint32_t clients = 1) {
    Cell cell;
    cell.seed = 5;
    cell.workload.id = "test";
    cell.workload.request_bytes = bytes;
    cell.clients = clients;
    cell.seconds = 1;
    return cell;
}

Message message_of(const MessagePattern& pattern, uint64_t head) {
    Message message(pattern.length());
    pattern.write(message.data(), head);
    return message;
}

// Gives what was sent in batches of at most so many.
struct FakeSource {
    static constexpr bool may_lose = false;
    std::deque<Message> messages;
    size_t batch = 1;
    Message last;
    std::vector<uint32_t> lengths;

    Received next(size_t most) {
        if (messages.empty()) throw std::logic_error("the receiver asks for more than was sent");
        last.clear();
        lengths.clear();
        for (size_t i = 0; i < std::min({most, batch, messages.size()}); ++i) {
            last.insert(last.end(), messages[i].begin(), messages[i].end());
            lengths.push_back(static_cast<uint32_t>(messages[i].size()));
        }
        return {last.data(), lengths.data(), lengths.size()};
    }
    void use(size_t count) {
        if (count > lengths.size()) throw std::logic_error("the receiver used more than it was given");
        messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count));
    }
};

struct LosingSource : FakeSource {
    static constexpr bool may_lose = true;
    std::deque<uint64_t> losses;

    uint64_t lost() {
        const uint64_t lost = losses.front();
        losses.pop_front();
        return lost;
    }
};

// What the receiver says to messages with these heads.
std::string failure_of(const std::vector<uint64_t>& heads, uint32_t clients = 1, size_t batch = 1) {
    const MessagePattern pattern(5, 32);
    FakeSource source;
    source.batch = batch;
    for (const uint64_t head : heads) source.messages.push_back(message_of(pattern, head));
    Arrivals arrivals(cell_of(32, clients), pattern);
    Portions portions(1000, 1);
    try {
        receive_stretch(source, arrivals, portions, clients, 1000);
    } catch (const Failure& failure) {
        return failure.status() + ": " + failure.what();
    }
    return "";
}

constexpr uint64_t end_mark = MessageHead::end_mark;
constexpr uint64_t client1 = uint64_t{1} << MessageHead::client_shift;

TEST(MessagePattern, EveryByteIsWrittenAndLookedAt) {
    for (const size_t length : {8u, 9u, 15u, 31u, 32u, 33u, 64u, 100u, 3000u}) {
        SCOPED_TRACE(length);
        const MessagePattern pattern(5, length);
        Message message(length + 1, 0xAB);
        pattern.write(message.data(), 7);
        EXPECT_EQ(message[length], 0xAB);
        EXPECT_EQ(head_of(message.data()), 7u);
        EXPECT_TRUE(pattern.is_right(message.data(), 7));
        EXPECT_FALSE(pattern.is_right(message.data(), 8));
        for (size_t i = 0; i < length; ++i) {
            message[i] ^= 1;
            EXPECT_FALSE(pattern.is_right(message.data(), 7)) << i;
            message[i] ^= 1;
        }
    }
}

// The numbers stand in docs/peer-protocol.md's words: each word is the generator's output plus the head.
TEST(MessagePattern, IsTheGeneratorPlusTheHead) {
    const Message message = message_of(MessagePattern(5, 20), 1000);
    Generator generator(5);
    generator.next();
    EXPECT_EQ(head_of(message.data() + 8), generator.next() + 1000);
    const uint64_t third = generator.next() + 1000;
    EXPECT_EQ(std::memcmp(message.data() + 16, &third, 4), 0);
}

class ArrivalsInBatches : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Of, ArrivalsInBatches, testing::Values(1, 2, 3, 100));

TEST_P(ArrivalsInBatches, TakeWhatIsSentInOrder) {
    EXPECT_EQ(failure_of({1, 2, 3, 4 | end_mark}, 1, GetParam()), "");
    EXPECT_EQ(failure_of({1, client1 | 1, 2, client1 | 2 | end_mark, 3, 4 | end_mark}, 2, GetParam()), "");
}

TEST_P(ArrivalsInBatches, NoticeWhatIsLostDoubledReorderedOrAStrangers) {
    EXPECT_EQ(failure_of({1, 3}, 1, GetParam()),
              "WRONG_CONTENT: the message of client 0 carries sequence 3 where 2 is due: the transport "
              "lost, repeated or reordered one");
    const auto is_noticed = [](const std::vector<uint64_t>& heads, uint32_t clients = 1) {
        return failure_of(heads, clients, GetParam()) != "";
    };
    EXPECT_TRUE(is_noticed({1, 1}));
    EXPECT_TRUE(is_noticed({2, 1}));
    EXPECT_TRUE(is_noticed({1, 2, 4 | end_mark})) << "the last one lost";
    EXPECT_TRUE(is_noticed({1, 2, 2 | end_mark})) << "one too many";
    EXPECT_TRUE(is_noticed({1, client1 | 1}));
    EXPECT_TRUE(is_noticed({1, client1 | 2}, 2)) << "each client has a sequence of its own";
}

TEST_P(ArrivalsInBatches, NoticeWrongContentAndLength) {
    const MessagePattern pattern(5, 32);
    for (const size_t wrong : {0u, 1u, 2u})
        for (const bool cut : {false, true}) {
            SCOPED_TRACE(wrong);
            FakeSource source;
            source.batch = GetParam();
            source.messages = {message_of(pattern, 1), message_of(pattern, 2), message_of(pattern, 3 | end_mark)};
            if (cut)
                source.messages[wrong].pop_back();
            else
                source.messages[wrong][20] ^= 0x80;
            Arrivals arrivals(cell_of(32), pattern);
            Portions portions(1000, 1);
            EXPECT_THROW(receive_stretch(source, arrivals, portions, 1, 1000), Failure);
        }
}

TEST_P(ArrivalsInBatches, SequencesRunOnFromStretchToStretch) {
    const MessagePattern pattern(5, 32);
    FakeSource source;
    source.batch = GetParam();
    for (const uint64_t head : {uint64_t{1}, 2 | end_mark, uint64_t{2}, uint64_t{3}, 4 | end_mark})
        source.messages.push_back(message_of(pattern, head));
    Arrivals arrivals(cell_of(32), pattern);
    Portions first(1000, 1), second(1000, 1);
    receive_stretch(source, arrivals, first, 1, 1000);
    receive_stretch(source, arrivals, second, 1, 1000);
    EXPECT_EQ(first.operations(), 1u);
    EXPECT_EQ(second.operations(), 2u);
    EXPECT_EQ(second.samples().size(), 1u) << "a stretch shorter than a portion is one sample";
}

TEST(Arrivals, ABroadcastMayDropWhatItSays) {
    const MessagePattern pattern(5, 32);
    LosingSource source;
    source.messages = {message_of(pattern, 1), message_of(pattern, 5), message_of(pattern, 6 | end_mark)};
    source.losses = {0, 3, 0};
    Arrivals arrivals(cell_of(32), pattern);
    Portions portions(1000, 1);
    receive_stretch(source, arrivals, portions, 1, 1000);
    EXPECT_EQ(portions.operations(), 2u);
    EXPECT_EQ(arrivals.lost(), 3u);

    source.messages = {message_of(pattern, 6), message_of(pattern, 9)};
    source.losses = {0, 1};
    EXPECT_THROW(receive_stretch(source, arrivals, portions, 1, 1000), Failure) << "one more was dropped than it said";
}

// What a receiver without order says to these stretches.
std::string unordered_failure_of(const std::vector<std::vector<uint64_t>>& stretches, uint32_t clients) {
    const MessagePattern pattern(5, 32);
    UnorderedArrivals arrivals(cell_of(32, clients), pattern);
    FakeSource source;
    try {
        for (const auto& heads : stretches) {
            for (const uint64_t head : heads) source.messages.push_back(message_of(pattern, head));
            Portions portions(1000, 1);
            receive_stretch(source, arrivals, portions, clients, 1000);
            if (!source.messages.empty()) return "ended early";
        }
    } catch (const Failure& failure) {
        return failure.status();
    }
    return "";
}

TEST(UnorderedArrivals, TakeEachMessageOnceInAnyOrder) {
    EXPECT_EQ(unordered_failure_of({{1, 2, 3, 4 | end_mark}, {5, 4, 6 | end_mark}}, 1), "");
    EXPECT_EQ(unordered_failure_of({{3, 4 | end_mark, 1, 2}, {6 | end_mark, 5, 4}}, 1), "");
    EXPECT_EQ(unordered_failure_of({{2, 3 | end_mark, client1 | 1, client1 | 2 | end_mark, 1}}, 2), "");
}

TEST(UnorderedArrivals, NoticeWhatIsLostOrDoubled) {
    EXPECT_EQ(unordered_failure_of({{1, 1, 3, 4 | end_mark}}, 1), "WRONG_CONTENT");
    EXPECT_EQ(unordered_failure_of({{1, 2, 5, 4 | end_mark}}, 1), "WRONG_CONTENT");
    EXPECT_EQ(unordered_failure_of({{1, 2, client1 | 1, 4 | end_mark}}, 1), "WRONG_CONTENT");
    EXPECT_EQ(unordered_failure_of({{1, 2 | end_mark}, {1, 3 | end_mark}}, 1), "WRONG_CONTENT")
        << "of the stretch before";
    EXPECT_EQ(unordered_failure_of({{1, 2 | end_mark, client1 | 1, client1 | 2 | end_mark, 1}}, 2), "ended early");
}

TEST(Portions, TakeOneSampleForSoManyMessages) {
    Portions portions(10, 100);
    portions.begin();
    for (int i = 0; i < 25; ++i) portions.add(1);
    portions.end(0);
    EXPECT_EQ(portions.samples().size(), 2u) << "the rest is in the rate, and no sample of its own";
    EXPECT_EQ(portions.operations(), 25u);
    EXPECT_GE(portions.elapsed_ns(), 0);
}

TEST(OneWay, NeedsRoomForASequence) {
    EXPECT_THROW(pattern_of(cell_of(7)), Failure);
    EXPECT_EQ(pattern_of(cell_of(8)).length(), 8u);
}

} // namespace
} // namespace ipc::peer::one_way_parts_test
