// Words in the shared memory that no writer or reader of ours leaves: each gets a status, none a crash or a hang; and positions at
// the end of their range.
#include "support.hpp"

#include <random>
#include <thread>

namespace ipc::ring::test {
namespace {

struct Bare {
    explicit Bare(const std::string& options)
        : address("ring://" + unique_name() + "?blocks=4&block=100&wait=block" + options), ring(opened(address)),
          file(opened_file(address)), memory(file->memory(), 4, 100) {}
    std::string address;
    std::unique_ptr<MessageQueue> ring;
    std::unique_ptr<RingFile> file; // the hostile one's
    Memory memory;
};

TEST(HostileRing, ALengthBeyondItsBlock) {
    for (const char* options : {"&order=fifo", "&order=lifo"})
        for (const uint32_t length : {101u, 5000u, UINT32_MAX}) {
            Bare bare(options);
            ASSERT_EQ(send(*bare.ring, "x"), IPC_OK);
            for (uint32_t i = 0; i < 4; ++i) bare.memory.block(i).length = length;
            std::string text;
            EXPECT_EQ(receive(*bare.ring, &text, 100), IPC_NOT_OUR_PROTOCOL) << options << length;
            EXPECT_NE(std::string(last_error()).find(bare.address.substr(0, 10)), std::string::npos);
        }
}

TEST(HostileRing, StatesThatCannotBe) {
    for (const uint64_t state :
         {uint64_t{0}, uint64_t{6}, UINT64_MAX, state_word(1, 0, Phase::full), state_word(8, 0, Phase::full),
          state_word(turn_mask - 3, 0, Phase::full), state_word(0, 0, static_cast<Phase>(9))}) {
        Bare bare("");
        bare.memory.block(0).state = state;
        std::string text;
        EXPECT_NE(receive(*bare.ring, &text, 100), IPC_OK) << state;
        const Status status = send(*bare.ring, "x", 100);
        EXPECT_TRUE(status == IPC_NOT_OUR_PROTOCOL || status == IPC_TIMED_OUT || status == IPC_OK) << status;
    }
    Bare bare("");
    bare.memory.block(0).state = 0;
    EXPECT_EQ(send(*bare.ring, "x", 100), IPC_NOT_OUR_PROTOCOL);
}

TEST(HostileRing, HeadsThatPointNowhere) {
    for (const uint64_t head : {head_word(9, 5, 0, ListStep::none), head_word(9, 0x1FFFF, 0, ListStep::none),
                                head_word(9, 0x1FFFF, 3, ListStep::pop), head_word(9, 0, 3, ListStep::push),
                                head_word(9, 1, 3, static_cast<ListStep>(3)), UINT64_MAX}) {
        Bare bare("&order=lifo");
        for (const List list : {List::free, List::full})
            bare.memory.header().heads[static_cast<unsigned>(list)].word = head;
        std::string text;
        EXPECT_EQ(receive(*bare.ring, &text, 100), IPC_NOT_OUR_PROTOCOL) << head;
        EXPECT_EQ(send(*bare.ring, "x", 100), IPC_NOT_OUR_PROTOCOL) << head;
    }
    Bare bare("&order=lifo");
    ASSERT_EQ(send(*bare.ring, "x"), IPC_OK);
    for (uint32_t i = 0; i < 4; ++i) bare.memory.block(i).next = 77;
    std::string text;
    EXPECT_EQ(receive(*bare.ring, &text, 100), IPC_NOT_OUR_PROTOCOL);
}

TEST(HostileRing, NoiseEverywhereNeverLeadsAstray) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 300; ++round) {
        Bare bare(round % 2 == 0 ? "&order=fifo" : "&order=lifo");
        for (int i = 0; i < 3; ++i) ASSERT_EQ(send(*bare.ring, "x"), IPC_OK);
        for (int i = 0; i < 3; ++i) {
            const uint64_t place = random() % 3;
            Header& header = bare.memory.header();
            const uint64_t noise = random() % 4 == 0 ? random() : random() % 64;
            if (place == 0) header.cursors[random() % 4].word = noise;
            if (place == 1) header.heads[random() % 2].word = noise;
            if (place == 2) bare.memory.block(static_cast<uint32_t>(random() % 4)).state = noise;
        }
        std::string text;
        for (int i = 0; i < 4; ++i) {
            receive(*bare.ring, &text, 0);
            send(*bare.ring, "y", 0);
        }
    }
}

TEST(HostileRing, AHeaderThatLies) {
    const std::string address = "ring://" + unique_name() + "?blocks=4&block=100";
    const auto ring = opened(address);
    const auto file = opened_file(address);
    std::unique_ptr<MessageQueue> late;
    auto* words = reinterpret_cast<uint32_t*>(file->memory());
    for (const auto& [word, lie] : std::initializer_list<std::pair<int, uint32_t>>{
             {1, 2}, {2, 0}, {2, 3}, {3, 8}, {3, 5}, {3, 0}, {3, 1u << 31}, {4, 0}, {4, 5000}, {4, UINT32_MAX}}) {
        const uint32_t before = words[word];
        words[word] = lie;
        EXPECT_EQ(open_ring(address, &late), IPC_NOT_OUR_PROTOCOL) << word << " " << lie;
        words[word] = before;
    }
    EXPECT_EQ(open_ring(address, &late), IPC_OK);
}

TEST(HostileRing, AHandleOpenBeforeTheHeaderLiedKeepsItsOwnCopy) {
    Bare bare("");
    reinterpret_cast<uint32_t*>(bare.file->memory())[3] = 1u << 16;
    reinterpret_cast<uint32_t*>(bare.file->memory())[4] = 1u << 20;
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(send(*bare.ring, std::to_string(i)), IPC_OK);
        EXPECT_EQ(received(*bare.ring), std::to_string(i));
    }
    EXPECT_EQ(send(*bare.ring, std::string(101, 'x')), IPC_MESSAGE_TOO_LARGE);
}

TEST(RingPositions, PassTheEndOfTheirWords) {
    for (const uint64_t first : {(uint64_t{1} << 48) - 5, UINT64_MAX - 5, (uint64_t{1} << 32) - 5}) {
        const std::string address = "ring://" + unique_name() + "?blocks=4&block=256&wait=adaptive";
        auto file = opened_file(address);
        format(file->memory(), Order::fifo, 4, 256, first);
        const auto writer = over(std::move(file), shared_memory::WaitMode::adaptive);
        const auto reader = opened(address);
        constexpr uint64_t count = 2000;
        std::thread writing([&] {
            std::vector<unsigned char> bytes;
            for (uint64_t n = 1; n <= count; ++n) {
                fill(bytes, 1, n);
                ASSERT_EQ(writer->enqueue(bytes.data(), bytes.size(), Deadline(patience_ms)), IPC_OK) << last_error();
            }
        });
        unsigned char buffer[256];
        for (uint64_t n = 1; n <= count; ++n) {
            size_t length = 0;
            uint32_t from = 0;
            uint64_t number = 0;
            ASSERT_EQ(reader->dequeue(buffer, sizeof buffer, &length, Deadline(patience_ms)), IPC_OK) << last_error();
            ASSERT_TRUE(is_whole(buffer, length, &from, &number));
            ASSERT_EQ(number, n);
        }
        writing.join();
    }
}

} // namespace
} // namespace ipc::ring::test
