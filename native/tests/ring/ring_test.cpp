// What a ring does for its users, both orders, every way of waiting.
#include "support.hpp"

#include <fcntl.h>
#include <mutex>
#include <set>
#include <thread>

namespace ipc::ring::test {
namespace {

TEST(Ring, GivesTheOldestMessageFirst) {
    const std::string address = "ring://" + unique_name() + "?blocks=4";
    const auto ring = opened(address);
    for (int lap = 0; lap < 5; ++lap) {
        for (const char* text : {"one", "two", "three"}) ASSERT_EQ(send(*ring, text), IPC_OK);
        for (const char* text : {"one", "two", "three"}) EXPECT_EQ(received(*ring), text);
    }
}

TEST(Ring, GivesTheNewestMessageFirstInLifoOrder) {
    const auto ring = opened("ring://" + unique_name() + "?order=lifo&blocks=4");
    for (int lap = 0; lap < 5; ++lap) {
        for (const char* text : {"one", "two", "three", "four"}) ASSERT_EQ(send(*ring, text), IPC_OK);
        EXPECT_EQ(send(*ring, "five", 0), IPC_TIMED_OUT);
        for (const char* text : {"four", "three", "two", "one"}) EXPECT_EQ(received(*ring), text);
        EXPECT_EQ(received(*ring, 0), "status 35");
    }
}

class RingOrders : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Orders, RingOrders, ::testing::Values("fifo", "lifo"));

TEST_P(RingOrders, AnEmptyMessageIsAMessage) {
    const auto ring = opened("ring://" + unique_name() + "?order=" + GetParam());
    EXPECT_EQ(ring->enqueue(nullptr, 0, Deadline(0)), IPC_OK);
    size_t length = 9;
    EXPECT_EQ(ring->dequeue(nullptr, 0, &length, Deadline(0)), IPC_OK);
    EXPECT_EQ(length, 0u);
}

TEST_P(RingOrders, AMessageLongerThanABlockIsRefusedAndTheLongestIsNot) {
    const auto ring = opened("ring://" + unique_name() + "?block=1000&order=" + GetParam());
    EXPECT_EQ(ring->limit(), 1000u);
    EXPECT_EQ(send(*ring, std::string(1001, 'x')), IPC_MESSAGE_TOO_LARGE);
    EXPECT_NE(std::string(last_error()).find("block="), std::string::npos);
    EXPECT_EQ(send(*ring, std::string(1000, 'x')), IPC_OK);
    EXPECT_EQ(received(*ring), std::string(1000, 'x'));
}

TEST_P(RingOrders, AMessageLongerThanTheBufferStays) {
    const auto ring = opened("ring://" + unique_name() + "?order=" + GetParam());
    ASSERT_EQ(send(*ring, std::string(100, 'x')), IPC_OK);
    char small[64];
    size_t length = 0;
    EXPECT_EQ(ring->dequeue(small, sizeof small, &length, Deadline(0)), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, 100u);
    EXPECT_EQ(received(*ring), std::string(100, 'x'));
}

TEST_P(RingOrders, BothEndsWaitForTheirTimeAndNoLonger) {
    for (const char* wait : {"adaptive", "spin", "block"}) {
        const auto ring = opened("ring://" + unique_name() + "?blocks=2&order=" + GetParam() + "&wait=" + wait);
        std::string text;
        Stopwatch empty;
        EXPECT_EQ(receive(*ring, &text, 60), IPC_TIMED_OUT);
        EXPECT_GE(empty.ms(), 59);
        ASSERT_EQ(send(*ring, "a", 0), IPC_OK);
        ASSERT_EQ(send(*ring, "b", 0), IPC_OK);
        Stopwatch full;
        EXPECT_EQ(send(*ring, "c", 60), IPC_TIMED_OUT);
        EXPECT_GE(full.ms(), 59);
        EXPECT_EQ(send(*ring, "c", 0), IPC_TIMED_OUT);
        ASSERT_EQ(receive(*ring, &text, 0), IPC_OK);
        ASSERT_EQ(receive(*ring, &text, 0), IPC_OK);
        EXPECT_EQ(receive(*ring, &text, 0), IPC_TIMED_OUT) << "nothing was put in by those that timed out";
    }
}

TEST_P(RingOrders, AWaitingEndGoesOnWhenTheOtherComes) {
    for (const char* wait : {"adaptive", "spin", "block"}) {
        const std::string address = "ring://" + unique_name() + "?blocks=2&order=" + GetParam() + "&wait=" + wait;
        const auto ring = opened(address);
        const auto other = opened(address);
        std::thread reader([&] { EXPECT_EQ(received(*other), "hello"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        EXPECT_EQ(send(*ring, "hello"), IPC_OK);
        reader.join();
        ASSERT_EQ(send(*ring, "1"), IPC_OK);
        ASSERT_EQ(send(*ring, "2"), IPC_OK);
        std::thread writer([&] { EXPECT_EQ(send(*ring, "3"), IPC_OK); });
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        std::multiset<std::string> all;
        for (int i = 0; i < 3; ++i) all.insert(received(*other));
        writer.join();
        EXPECT_EQ(all, (std::multiset<std::string>{"1", "2", "3"}));
    }
}

TEST_P(RingOrders, CloseInterruptsBothEndsAndOnlyOnThisHandle) {
    for (const char* wait : {"adaptive", "spin", "block"}) {
        const std::string address = "ring://" + unique_name() + "?blocks=2&order=" + GetParam() + "&wait=" + wait;
        const auto ring = opened(address);
        const auto other = opened(address);
        Status reading = IPC_OK, writing = IPC_OK;
        std::thread reader([&] {
            std::string text;
            reading = receive(*ring, &text, IPC_FOREVER);
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        Stopwatch closing;
        ring->close();
        reader.join();
        EXPECT_LT(closing.ms(), 2000);
        EXPECT_EQ(reading, IPC_CLOSED);
        EXPECT_EQ(send(*ring, "x"), IPC_CLOSED);
        ASSERT_EQ(send(*other, "a"), IPC_OK);
        ASSERT_EQ(send(*other, "b"), IPC_OK);
        std::thread writer([&] { writing = send(*other, "c", IPC_FOREVER); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        other->close();
        writer.join();
        EXPECT_EQ(writing, IPC_CLOSED);
    }
}

TEST(Ring, TheMakersSizesHold) {
    const std::string name = unique_name();
    const auto maker = opened("ring://" + name + "?blocks=2&block=100&order=lifo");
    const auto guest = opened("ring://" + name + "?blocks=64&block=9k");
    EXPECT_EQ(guest->limit(), 100u);
    ASSERT_EQ(send(*guest, "1"), IPC_OK);
    ASSERT_EQ(send(*guest, "2"), IPC_OK);
    EXPECT_EQ(send(*guest, "3", 0), IPC_TIMED_OUT);
    EXPECT_EQ(received(*maker), "2");
}

TEST(Ring, OptionsThatCannotBeAreRefused) {
    std::unique_ptr<MessageQueue> ring;
    for (const char* options : {"blocks=1", "blocks=3", "blocks=0", "blocks=131072", "block=2G", "order=random"}) {
        EXPECT_EQ(open_ring("ring://" + unique_name() + "?" + options, &ring), IPC_BAD_OPTION) << options;
        EXPECT_NE(std::string(last_error()), "");
    }
    EXPECT_EQ(open_ring("ring://a/b", &ring), IPC_BAD_ADDRESS);
}

TEST(RingName, GoesWithTheLastHandleAndTakesWhatWaitedAlong) {
    const std::string name = unique_name();
    auto one = opened("ring://" + name);
    auto two = opened("ring://" + name);
    struct stat status {};
    ASSERT_EQ(stat(path_of(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    ASSERT_EQ(send(*one, "left behind"), IPC_OK);
    one.reset();
    EXPECT_TRUE(exists(name));
    two.reset();
    EXPECT_FALSE(exists(name));
    const auto anew = opened("ring://" + name);
    EXPECT_EQ(received(*anew, 0), "status 35");
}

TEST(RingName, RemovedItLivesOnNameless) {
    const std::string address = "ring://" + unique_name();
    EXPECT_EQ(remove_ring(address), IPC_NO_SERVER);
    const auto one = opened(address);
    const auto two = opened(address);
    EXPECT_EQ(remove_ring(address), IPC_OK) << last_error();
    EXPECT_EQ(remove_ring(address), IPC_NO_SERVER);
    const auto anew = opened(address);
    ASSERT_EQ(send(*one, "still here"), IPC_OK);
    EXPECT_EQ(received(*two), "still here");
    EXPECT_EQ(received(*anew, 0), "status 35");
}

TEST(RingName, WhatIsNotARingIsLeftAlone) {
    const std::string name = unique_name();
    opened("ring://" + unique_name()); // makes the folder
    std::unique_ptr<MessageQueue> ring;
    const int file = open(path_of(name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_EQ(write(file, "precious", 8), 8);
    close(file);
    EXPECT_EQ(open_ring("ring://" + name, &ring), IPC_NOT_OUR_PROTOCOL) << last_error();
    EXPECT_EQ(remove_ring("ring://" + name), IPC_NOT_OUR_PROTOCOL);
    EXPECT_TRUE(exists(name));
    unlink(path_of(name).c_str());
    ASSERT_EQ(symlink("/etc/passwd", path_of(name).c_str()), 0);
    EXPECT_EQ(open_ring("ring://" + name, &ring), IPC_NO_PERMISSION) << last_error();
    unlink(path_of(name).c_str());
    ASSERT_EQ(mkfifo(path_of(name).c_str(), 0600), 0);
    EXPECT_EQ(open_ring("ring://" + name, &ring), IPC_NO_PERMISSION) << last_error();
    unlink(path_of(name).c_str());
    ASSERT_EQ(mkdir(path_of(name).c_str(), 0700), 0);
    EXPECT_EQ(open_ring("ring://" + name, &ring), IPC_NO_PERMISSION) << last_error();
    rmdir(path_of(name).c_str());
}

TEST(RingName, ManyWhoOpenAndCloseAtOnceNeverMeetAHalfMadeRing) {
    const std::string address = "ring://" + unique_name() + "?blocks=4&block=64";
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 60; ++i) {
                const auto ring = opened(address);
                if (!ring) return;
                EXPECT_EQ(send(*ring, "x", 0) & ~IPC_TIMED_OUT, 0);
            }
        });
    for (std::thread& thread : threads) thread.join();
}

// ---- many at once

struct Tally {
    std::mutex mutex;
    std::set<std::pair<uint32_t, uint64_t>> got;
    unsigned doubled = 0, torn = 0, disordered = 0;
};

void read_until_told(MessageQueue& ring, Tally& tally, bool ordered) {
    unsigned char buffer[256];
    std::vector<uint64_t> latest(64, 0);
    std::vector<std::pair<uint32_t, uint64_t>> mine;
    unsigned torn = 0, disordered = 0;
    while (true) {
        size_t length = 0;
        if (ring.dequeue(buffer, sizeof buffer, &length, Deadline(patience_ms)) != IPC_OK) {
            ++torn;
            break;
        }
        if (length == 0) break; // one for each reader, after all else
        uint32_t writer = 0;
        uint64_t number = 0;
        if (!is_whole(buffer, length, &writer, &number) || writer >= latest.size()) {
            ++torn;
            continue;
        }
        if (ordered && latest[writer] >= number) ++disordered;
        latest[writer] = number;
        mine.emplace_back(writer, number);
    }
    const std::lock_guard lock(tally.mutex);
    tally.torn += torn;
    tally.disordered += disordered;
    for (const auto& one : mine)
        if (!tally.got.insert(one).second) ++tally.doubled;
}

class RingCrowd : public ::testing::TestWithParam<std::tuple<const char*, const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, RingCrowd,
                         ::testing::Combine(::testing::Values("fifo", "lifo"), ::testing::Values("adaptive", "block"),
                                            ::testing::Bool()));

TEST_P(RingCrowd, OfThreadsLosesDoublesAndTearsNothing) {
    const auto [order, wait, own_handles] = GetParam();
    const bool fifo = order == std::string("fifo");
    constexpr uint32_t writers = 3, readers = 3;
    constexpr uint64_t each = 4000;
    const std::string address = "ring://" + unique_name() + "?blocks=8&block=256&order=" + order + "&wait=" + wait;
    const auto shared = opened(address);
    Tally tally;
    std::vector<std::thread> writing, reading;
    for (uint32_t w = 0; w < writers; ++w)
        writing.emplace_back([&, w, own = own_handles] {
            const auto handle = own ? opened(address) : nullptr;
            std::vector<unsigned char> bytes;
            for (uint64_t n = 1; n <= each; ++n) {
                fill(bytes, w, n);
                ASSERT_EQ((own ? *handle : *shared).enqueue(bytes.data(), bytes.size(), Deadline(patience_ms)), IPC_OK);
            }
        });
    for (uint32_t r = 0; r < readers; ++r)
        reading.emplace_back([&, own = own_handles] {
            const auto handle = own ? opened(address) : nullptr;
            read_until_told(own ? *handle : *shared, tally, fifo);
        });
    for (std::thread& thread : writing) thread.join();
    for (uint32_t r = 0; r < readers; ++r) ASSERT_EQ(send(*shared, ""), IPC_OK);
    for (std::thread& thread : reading) thread.join();
    unsigned left = 0; // a lifo ring may have kept older ones under the last
    if (!fifo) {
        size_t length = 0;
        unsigned char buffer[256];
        while (shared->dequeue(buffer, sizeof buffer, &length, Deadline(0)) == IPC_OK) ++left;
    }
    EXPECT_EQ(tally.torn, 0u);
    EXPECT_EQ(tally.doubled, 0u);
    EXPECT_EQ(tally.disordered, 0u);
    EXPECT_EQ(tally.got.size() + left, writers * each);
}

TEST_P(RingCrowd, OfProcessesLosesDoublesAndTearsNothing) {
    const auto [order, wait, many_readers] = GetParam();
    constexpr uint32_t writers = 3;
    constexpr uint64_t each = 3000;
    const std::string address = "ring://" + unique_name() + "?blocks=8&block=256&order=" + order + "&wait=" + wait;
    const auto ring = opened(address);
    std::vector<std::unique_ptr<Child>> children;
    for (uint32_t w = 0; w < writers; ++w)
        children.push_back(std::make_unique<Child>([&, w] {
            std::unique_ptr<MessageQueue> own;
            if (open_ring(address, &own) != IPC_OK) return false;
            std::vector<unsigned char> bytes;
            for (uint64_t n = 1; n <= each; ++n) {
                fill(bytes, w, n);
                if (own->enqueue(bytes.data(), bytes.size(), Deadline(patience_ms)) != IPC_OK) return false;
            }
            return true;
        }));
    std::set<std::pair<uint32_t, uint64_t>> got;
    std::mutex mutex;
    std::atomic<uint64_t> count{0};
    const auto read = [&] {
        unsigned char buffer[256];
        while (count.load() < writers * each) {
            size_t length = 0;
            const Status status = ring->dequeue(buffer, sizeof buffer, &length, Deadline(500));
            if (status == IPC_TIMED_OUT) continue;
            ASSERT_EQ(status, IPC_OK) << last_error();
            uint32_t writer = 0;
            uint64_t number = 0;
            ASSERT_TRUE(is_whole(buffer, length, &writer, &number));
            const std::lock_guard lock(mutex);
            ASSERT_TRUE(got.insert({writer, number}).second) << "doubled";
            ++count;
        }
    };
    std::vector<std::thread> readers;
    for (int r = 0; r < (many_readers ? 3 : 1); ++r) readers.emplace_back(read);
    for (std::thread& reader : readers) reader.join();
    for (auto& child : children) EXPECT_TRUE(child->join());
    EXPECT_EQ(got.size(), writers * each);
}

TEST(Ring, OpeningKeepsItsTimeOutWhileAnotherHasTheFolderLocked) {
    posix::Descriptor held;
    ASSERT_EQ(posix::lock_folder_of_user(ring_folder(), &held), IPC_OK) << last_error();
    const std::string text = "ring://" + unique_name();
    for (const int32_t timeout_ms : {0, 20}) {
        ipc_queue* queue = nullptr;
        EXPECT_EQ(ipc_queue_open(text.c_str(), timeout_ms, &queue), IPC_TIMED_OUT);
        EXPECT_NE(std::string(ipc_last_error()).find("locked"), std::string::npos) << ipc_last_error();
        EXPECT_EQ(queue, nullptr);
    }
    held.reset();
    const auto ring = opened(text);
    EXPECT_TRUE(ring != nullptr);
}

} // namespace
} // namespace ipc::ring::test
