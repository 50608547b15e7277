// Readers and publishers that die, and more readers than there is room for.
#include "support.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <sys/resource.h>

namespace {
// What this thread does before it asks the system what its sockets are.
thread_local std::function<void()> before_poll;
} // namespace

// In place of the C library's, here and in the library under test, which is part of this program.
extern "C" int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
    if (before_poll) before_poll();
    const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
    return ppoll(descriptors, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

namespace ipc::test {
namespace {

int64_t processor_time_us() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

TEST(BroadcastEnds, AReaderKilledWhileItIsWaitedForIsForgotten) {
    for (const char* wait : {"spin", "adaptive", "block"}) {
        const std::string where = fresh_address("size=64k&wait=" + std::string(wait));
        std::unique_ptr<BroadcastSubscriber> in_child;
        const auto publisher = publisher_at(where);
        const auto child = std::make_unique<Child>([&] { return subscribe_to(where, &in_child) == IPC_OK; });
        ASSERT_TRUE(child->ready());
        ASSERT_EQ(1u, subscribers_of(*publisher));
        const std::vector<std::byte> kilobyte(1000);
        while (publish(*publisher, kilobyte, 0) == IPC_OK) {
        }
        std::thread killing([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            child->end();
        });
        const Stopwatch watch;
        EXPECT_EQ(IPC_OK, publish(*publisher, kilobyte)) << last_error();
        EXPECT_LT(watch.ms(), 2000);
        killing.join();
        EXPECT_EQ(0u, subscribers_of(*publisher));
    }
}

TEST(BroadcastEnds, AKilledPublishersMessagesAreReadThenItsEnd) {
    for (const char* wait : {"spin", "adaptive", "block"}) {
        const std::string where = fresh_address("wait=" + std::string(wait));
        std::unique_ptr<BroadcastPublisher> in_child;
        auto child = std::make_unique<Child>([&] { return publish_at(where, &in_child) == IPC_OK; });
        ASSERT_TRUE(child->ready());
        const auto subscriber = subscriber_of(where);
        std::atomic<int64_t> killed_ms{0};
        const Stopwatch watch;
        std::thread killing([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            killed_ms = watch.ms();
            child->end();
        });
        EXPECT_EQ(IPC_PEER_CLOSED, receive(*subscriber, forever).status);
        EXPECT_LT(watch.ms() - killed_ms, 2000);
        killing.join();
        EXPECT_EQ(IPC_PEER_CLOSED, receive(*subscriber, 0).status);
        EXPECT_FALSE(exists(path_of(where))) << "whoever finds the publisher dead removes its name";
        const auto next = publisher_at(where);
        EXPECT_NE(nullptr, next);
    }
}

TEST(BroadcastEnds, WhatAKilledPublisherPublishedIsStillRead) {
    const std::string where = fresh_address();
    std::unique_ptr<BroadcastPublisher> in_child;
    auto child = std::make_unique<Child>([&] {
        if (publish_at(where, &in_child) != IPC_OK) return false;
        // Publishes as soon as both readers are there, beside the thread that says "ready".
        std::thread([&in_child] {
            size_t readers = 0;
            while (readers < 2) in_child->subscribers(&readers);
            for (uint64_t i = 0; i < 100; ++i) in_child->publish(&i, sizeof i, Deadline(0));
        }).detach();
        return true;
    });
    ASSERT_TRUE(child->ready());
    const auto subscriber = subscriber_of(where), witness = subscriber_of(where);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(IPC_OK, receive(*witness).status) << i;
    child->end();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(IPC_OK, receive(*subscriber).status) << i;
    EXPECT_EQ(IPC_PEER_CLOSED, receive(*subscriber).status);
    EXPECT_FALSE(exists(path_of(where)));
}

TEST(BroadcastEnds, SixtyFourReadersAndNoMore) {
    const std::string where = fresh_address("size=64k&wait=block");
    const auto publisher = publisher_at(where);
    std::vector<std::unique_ptr<BroadcastSubscriber>> subscribers;
    for (unsigned i = 0; i < 64; ++i) {
        subscribers.push_back(subscriber_of(where + (i % 2 != 0 ? "&policy=drop" : "")));
        ASSERT_NE(nullptr, subscribers.back());
    }
    EXPECT_EQ(64u, subscribers_of(*publisher));
    std::unique_ptr<BroadcastSubscriber> one_more;
    EXPECT_EQ(IPC_NOT_AVAILABLE, subscribe_to(where, &one_more));
    EXPECT_NE(std::string::npos, std::string(last_error()).find("64")) << last_error();
    for (uint64_t i = 0; i < 200; ++i) {
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 2000), 0));
        for (auto& subscriber : subscribers) {
            const Received got = receive(*subscriber, 0, 2008);
            ASSERT_EQ(IPC_OK, got.status);
            ASSERT_EQ(static_cast<int64_t>(i), index_of(got.bytes.data(), got.bytes.size(), 2000));
        }
    }
    subscribers[17].reset();
    ASSERT_TRUE(eventually([&] { return subscribers_of(*publisher) == 63; }));
    EXPECT_EQ(IPC_OK, subscribe_to(where, &one_more)) << last_error();
    EXPECT_EQ(64u, subscribers_of(*publisher));
    ASSERT_EQ(IPC_OK, publish(*publisher, message_of(1, 0), 0));
    EXPECT_EQ(IPC_OK, receive(*one_more, 0).status);
}

TEST(BroadcastEnds, PlacesAreGivenAgainManyTimes) {
    const std::string where = fresh_address("size=64k");
    const auto publisher = publisher_at(where);
    for (uint64_t i = 0; i < 300; ++i) {
        const auto subscriber = subscriber_of(where);
        ASSERT_NE(nullptr, subscriber);
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 4000)));
        const Received got = receive(*subscriber);
        ASSERT_EQ(static_cast<int64_t>(i), index_of(got.bytes.data(), got.bytes.size(), 4000));
    }
    EXPECT_TRUE(eventually([&] { return subscribers_of(*publisher) == 0; }));
}

// Open descriptors, and mappings of nameless shared memory.
std::pair<long, long> what_is_held() {
    namespace fs = std::filesystem;
    const long descriptors = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    long mappings = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) mappings += line.find("/memfd:ipc") != std::string::npos;
    return {descriptors, mappings};
}

TEST(BroadcastEnds, NothingIsHeldAfterwards) {
    const auto before = what_is_held();
    for (int round = 0; round < 3; ++round) {
        const std::string where = fresh_address("size=64k");
        const auto publisher = publisher_at(where);
        const auto first = subscriber_of(where), second = subscriber_of(with(where, "policy=drop"));
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(1, 100)));
        ASSERT_EQ(IPC_OK, receive(*first).status);
        std::unique_ptr<BroadcastPublisher> refused;
        EXPECT_EQ(IPC_NAME_IN_USE, publish_at(where, &refused));
        EXPECT_NE(before, what_is_held());
    }
    EXPECT_EQ(before, what_is_held());
}

// The bound is the process's own processor time, not the wall's, so a busy machine does not matter.
TEST(BroadcastEnds, IdleCostsNoProcessorTime) {
    const std::string where = fresh_address();
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(where);
    // A small buffer: memory new to the process takes its time (a mebibyte 20 ms, under ThreadSanitizer where page faults are slow).
    constexpr size_t capacity = 100;
    const int64_t before = processor_time_us();
    EXPECT_EQ(IPC_TIMED_OUT, receive(*subscriber, 1000, capacity).status);
    EXPECT_LT(processor_time_us() - before, 20'000);
}

// Closing ends the socket, which looks like the publisher's end to a thread that has just seen that the subscriber is not closed.
TEST(BroadcastEnds, ClosingIsNotTakenForThePublishersEnd) {
    for (const char* wait : {"spin", "block"}) {
        const std::string where = fresh_address("wait=" + std::string(wait));
        const auto publisher = publisher_at(where);
        const auto subscriber = subscriber_of(where);
        bool looked = false;
        before_poll = [&] {
            looked = true;
            subscriber->close();
        };
        EXPECT_EQ(IPC_CLOSED, receive(*subscriber, forever).status) << last_error();
        before_poll = nullptr;
        EXPECT_TRUE(looked);
    }
}

} // namespace
} // namespace ipc::test
