// ring.hpp between two threads (ThreadSanitizer sees both), over many laps and with every kind of message.
#include <cstring>
#include <gtest/gtest.h>
#include <ipc/ring.hpp>
#include <memory>
#include <new>
#include <random>
#include <thread>

namespace {

template <class Message>
class Memory {
  public:
    explicit Memory(size_t slots)
        : bytes_(ipc::SpscRing<Message>::bytes(slots)), at_(::operator new (bytes_, std::align_val_t{128})) {
        std::memset(at_, 0, bytes_);
    }
    ~Memory() { ::operator delete (at_, std::align_val_t{128}); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    void* get() const { return at_; }

  private:
    size_t bytes_;
    void* at_;
};

struct Long {
    uint64_t number;
    unsigned char rest[200];
};

template <class Message>
Message message_of(uint64_t number) {
    Message message;
    std::memset(static_cast<void*>(&message), static_cast<int>(number * 7 % 251), sizeof message);
    std::memcpy(static_cast<void*>(&message), &number, std::min(sizeof number, sizeof message));
    return message;
}

template <class Message>
void all_pass_in_order(size_t slots, uint64_t count) {
    using Ring = ipc::SpscRing<Message>;
    const Memory<Message> memory(slots);
    std::thread writing([&] {
        typename Ring::Writer writer(memory.get(), slots);
        for (uint64_t i = 0; i < count;) {
            if (writer.try_push(message_of<Message>(i)))
                ++i;
            else
                std::this_thread::yield();
        }
    });
    typename Ring::Reader reader(memory.get(), slots);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count;) {
        const Message* message = reader.next();
        if (message == nullptr) {
            std::this_thread::yield();
            continue;
        }
        const Message due = message_of<Message>(i++);
        wrong += std::memcmp(message, &due, sizeof due) != 0;
        reader.release();
    }
    writing.join();
    EXPECT_EQ(0u, wrong);
    EXPECT_EQ(nullptr, reader.next());
}

} // namespace

TEST(SpscRing, MessagesOfEverySizePassBetweenThreads) {
    for (const size_t slots : {1u, 2u, 64u, 1024u}) {
        all_pass_in_order<uint8_t>(slots, 20'000);
        all_pass_in_order<uint64_t>(slots, 20'000);
        all_pass_in_order<Long>(slots, 20'000);
    }
}

TEST(SpscRing, HoldsWhatItHasSlotsForAndNoMore) {
    for (const size_t slots : {1u, 2u, 4u, 16u}) {
        const Memory<uint64_t> memory(slots);
        ipc::SpscRing<uint64_t>::Writer writer(memory.get(), slots);
        ipc::SpscRing<uint64_t>::Reader reader(memory.get(), slots);
        std::mt19937 random(3);
        uint64_t written = 0, read = 0;
        for (int step = 0; step < 10'000; ++step) {
            if (random() % 2 != 0) {
                const bool full = written - read == slots;
                if (writer.try_push(written))
                    ++written;
                else // what the reader has done with and not given back yet counts as full
                    ASSERT_TRUE(full || written != read);
                ASSERT_LE(written - read, slots);
            } else {
                uint64_t number;
                const bool there = reader.try_pop(number);
                ASSERT_EQ(written != read, there);
                if (there) {
                    ASSERT_EQ(read++, number);
                }
            }
        }
        uint64_t number;
        while (reader.try_pop(number)) ++read;
        for (size_t i = 0; i < slots; ++i) ASSERT_TRUE(writer.try_push(written)) << "an empty ring has room for all";
        ASSERT_EQ(nullptr, writer.room());
    }
}

// A reader that says it has read what was never written: the writer must not leave the ring's memory.
TEST(SpscRing, APositionFromNowhereIsTakenForAFullRing) {
    for (const uint64_t lie : {uint64_t{1000}, UINT64_MAX, uint64_t{1} << 63}) {
        const Memory<uint64_t> memory(4);
        ipc::SpscRing<uint64_t>::Writer writer(memory.get(), 4);
        for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(writer.try_push(i));
        std::memcpy(memory.get(), &lie, sizeof lie);
        EXPECT_EQ(nullptr, writer.room()) << lie;
    }
}

#if !defined(NDEBUG) && GTEST_HAS_DEATH_TEST
// A number of slots that is no power of two would have messages overwrite each other without a word.
TEST(SpscRingDeathTest, MemoryThatCannotBeARingIsNoticedWhereAssertsAre) {
    using Ring = ipc::SpscRing<uint64_t>;
    const Memory<uint64_t> memory(1000);
    for (const size_t slots : {0u, 3u, 1000u}) {
        EXPECT_DEATH(Ring::Writer(memory.get(), slots), "power of two") << slots;
        EXPECT_DEATH(Ring::Reader(memory.get(), slots), "power of two") << slots;
    }
    EXPECT_DEATH(Ring::Writer(static_cast<char*>(memory.get()) + 8, 4), "multiple of 64");
}
#endif
