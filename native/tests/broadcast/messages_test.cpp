// What a broadcast owes its users: everything in order to who is waited for, exact losses to who is not.
#include "support.hpp"

namespace ipc::test {
namespace {

class BroadcastWaiting : public testing::TestWithParam<const char*> {
  protected:
    std::string address(const std::string& options = "") const {
        return fresh_address("size=64k&wait=" + std::string(GetParam()) + (options.empty() ? "" : "&" + options));
    }
};
INSTANTIATE_TEST_SUITE_P(AllModes, BroadcastWaiting, testing::Values("spin", "adaptive", "block"));

// Under ThreadSanitizer this also shows that the orderings carry the messages: every reader has its own mapping.
TEST_P(BroadcastWaiting, ReadersThatAreWaitedForGetEverythingInOrder) {
    constexpr uint64_t count = 5000;
    constexpr size_t spread = 700;
    const std::string where = address();
    const auto publisher = publisher_at(where);
    std::vector<std::unique_ptr<BroadcastSubscriber>> subscribers;
    for (int i = 0; i < 3; ++i) subscribers.push_back(subscriber_of(where));
    EXPECT_EQ(3u, subscribers_of(*publisher));
    std::vector<std::thread> readers;
    for (auto& subscriber : subscribers)
        readers.emplace_back([&subscriber] {
            for (uint64_t i = 0; i < count; ++i) {
                const Received got = receive(*subscriber, patience_ms, 8 + spread);
                ASSERT_EQ(IPC_OK, got.status) << last_error();
                ASSERT_EQ(static_cast<int64_t>(i), index_of(got.bytes.data(), got.bytes.size(), spread));
                ASSERT_EQ(0u, got.lost);
            }
            ASSERT_EQ(IPC_PEER_CLOSED, receive(*subscriber).status);
        });
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, spread))) << last_error();
    publisher->close();
    for (std::thread& reader : readers) reader.join();
}

TEST_P(BroadcastWaiting, ReadersThatAreNotWaitedForAreToldExactlyWhatTheyLost) {
    constexpr uint64_t count = 60'000;
    constexpr size_t spread = 300;
    const std::string where = address("policy=drop");
    const auto publisher = publisher_at(where);
    std::atomic<uint64_t> lost_by_all{0}, published{0};
    std::vector<std::thread> readers;
    for (unsigned reader = 0; reader < 3; ++reader) {
        auto subscriber = subscriber_of(where);
        readers.emplace_back([&, reader, subscriber = std::move(subscriber)] {
            uint64_t next = 0, received = 0;
            // The last comes so late that it must have been overtaken, however the machine schedules.
            while (reader == 2 && published < count / 2) std::this_thread::yield();
            while (next != count) {
                const Received got = receive(*subscriber, patience_ms, 8 + spread);
                ASSERT_EQ(IPC_OK, got.status) << last_error();
                const int64_t index = index_of(got.bytes.data(), got.bytes.size(), spread);
                ASSERT_GE(index, 0) << "torn";
                ASSERT_EQ(next + got.lost, static_cast<uint64_t>(index));
                next = static_cast<uint64_t>(index) + 1;
                lost_by_all += got.lost;
                if (reader != 0 && ++received % (100 * reader) == 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    }
    for (uint64_t i = 0; i < count; ++i, ++published) // not waiting at all: nobody can delay the publisher
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, spread), 0)) << last_error();
    for (std::thread& reader : readers) reader.join();
    EXPECT_GT(lost_by_all, 0u) << "the test was to show losses";
}

TEST_P(BroadcastWaiting, TimesOutInTime) {
    const std::string where = address();
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(where);
    for (int32_t timeout : {0, 40}) {
        const Stopwatch watch;
        EXPECT_EQ(IPC_TIMED_OUT, receive(*subscriber, timeout).status);
        EXPECT_GE(watch.ms(), timeout - 1);
    }
    const std::vector<std::byte> kilobyte(1000);
    Status status = IPC_OK;
    unsigned published = 0;
    while ((status = publish(*publisher, kilobyte, 0)) == IPC_OK) ++published;
    EXPECT_EQ(IPC_TIMED_OUT, status);
    EXPECT_GE(published, 60u) << "the ring has room for that many";
    const Stopwatch watch;
    EXPECT_EQ(IPC_TIMED_OUT, publish(*publisher, kilobyte, 40));
    EXPECT_GE(watch.ms(), 39);
    // What timed out was not published, and room for one is room for one.
    EXPECT_EQ(IPC_OK, receive(*subscriber).status);
    EXPECT_EQ(IPC_OK, publish(*publisher, kilobyte, 0)) << last_error();
    for (unsigned i = 0; i < published; ++i) EXPECT_EQ(IPC_OK, receive(*subscriber, 0).status);
    EXPECT_EQ(IPC_TIMED_OUT, receive(*subscriber, 0).status);
}

TEST_P(BroadcastWaiting, ClosingInterruptsBothSides) {
    const std::string where = address();
    const auto publisher = publisher_at(where);
    const auto idle = subscriber_of(where), other = subscriber_of(where);
    std::atomic<int64_t> closed_ms{0};
    const Stopwatch watch;
    std::thread receiving([&] {
        EXPECT_EQ(IPC_CLOSED, receive(*idle, forever).status);
        EXPECT_LT(watch.ms() - closed_ms, 1000); // 100 ms are promised; the machine may be busy
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    closed_ms = watch.ms();
    idle->close();
    receiving.join();
    EXPECT_EQ(IPC_CLOSED, receive(*idle, 0).status);
    EXPECT_TRUE(eventually([&] { return subscribers_of(*publisher) == 1; }));

    std::atomic<int> published{0};
    std::thread publishing([&] {
        const std::vector<std::byte> kilobyte(1000);
        Status status = IPC_OK;
        while ((status = publish(*publisher, kilobyte, forever)) == IPC_OK) ++published;
        EXPECT_EQ(IPC_CLOSED, status);
        EXPECT_LT(watch.ms() - closed_ms, 1000);
    });
    // The ring has room for some more than that; then the publisher waits for the reader that reads nothing.
    EXPECT_TRUE(eventually([&] { return published > 60; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    closed_ms = watch.ms();
    publisher->close();
    publishing.join();
    EXPECT_FALSE(exists(path_of(where)));
    EXPECT_EQ(IPC_CLOSED, publish(*publisher, {}, 0));
    // What was published before the end is still read.
    Received got = receive(*other);
    int received = 0;
    for (; got.status == IPC_OK; ++received) got = receive(*other);
    EXPECT_EQ(IPC_PEER_CLOSED, got.status);
    EXPECT_EQ(received, published);
}

TEST_P(BroadcastWaiting, AWaitingPublisherGoesOnWhenItsSlowestReaderReads) {
    const std::string where = address();
    const auto publisher = publisher_at(where);
    const auto quick = subscriber_of(where), slow = subscriber_of(where);
    constexpr int count = 300;
    const std::vector<std::byte> kilobyte(1000);
    const auto read_all = [](BroadcastSubscriber& subscriber, int pause_every) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(IPC_OK, receive(subscriber, patience_ms, 1000).status);
            if (pause_every != 0 && i % pause_every == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    std::thread first([&] { read_all(*quick, 0); }), second([&] { read_all(*slow, 4); });
    for (int i = 0; i < count; ++i) ASSERT_EQ(IPC_OK, publish(*publisher, kilobyte));
    first.join();
    second.join();
}

TEST(Broadcast, EmptyMessagesAndLargestMessages) {
    const std::string where = fresh_address("size=64k");
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(where);
    EXPECT_EQ(32768u, publisher->limit());
    const std::byte none{};
    ASSERT_EQ(IPC_OK, publisher->publish(nullptr, 0, Deadline(0)));
    ASSERT_EQ(IPC_OK, publisher->publish(&none, 0, Deadline(0)));
    for (int i = 0; i < 2; ++i) {
        const Received got = receive(*subscriber, 0);
        EXPECT_EQ(IPC_OK, got.status);
        EXPECT_TRUE(got.bytes.empty());
    }
    for (unsigned i = 0; i < 20; ++i) {
        const auto sent = pattern(32768 - i, i);
        ASSERT_EQ(IPC_OK, publish(*publisher, sent, 0)) << last_error();
        EXPECT_EQ(sent, receive(*subscriber, 0).bytes);
    }
    EXPECT_EQ(IPC_MESSAGE_TOO_LARGE, publish(*publisher, std::vector<std::byte>(32769), 0));
    const auto small = publisher_at(fresh_address("max=100"));
    EXPECT_EQ(100u, small->limit());
    EXPECT_EQ(IPC_MESSAGE_TOO_LARGE, publish(*small, std::vector<std::byte>(101), 0));
    EXPECT_EQ(IPC_OK, publish(*small, std::vector<std::byte>(100), 0));
}

TEST(Broadcast, ATooSmallBufferLeavesTheMessage) {
    const std::string where = fresh_address();
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(where);
    const auto sent = pattern(500);
    ASSERT_EQ(IPC_OK, publish(*publisher, sent));
    std::byte buffer[48];
    size_t length = 0;
    uint64_t lost = 1;
    EXPECT_EQ(IPC_BUFFER_TOO_SMALL, subscriber->receive(buffer, sizeof buffer, &length, &lost, Deadline(0)));
    EXPECT_EQ(500u, length);
    EXPECT_EQ(IPC_BUFFER_TOO_SMALL, subscriber->receive(nullptr, 0, &length, &lost, Deadline(0)));
    EXPECT_EQ(sent, receive(*subscriber, 0).bytes);
}

TEST(Broadcast, AMessageOverTheSubscribersOwnLimitIsRefusedForGood) {
    const std::string where = fresh_address();
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(with(where, "max=100"));
    ASSERT_EQ(IPC_OK, publish(*publisher, std::vector<std::byte>(101)));
    EXPECT_EQ(IPC_PEER_TOO_LARGE, receive(*subscriber).status);
    EXPECT_EQ(IPC_PEER_TOO_LARGE, receive(*subscriber).status);
}

TEST(Broadcast, LateJoinersBeginWithWhatComesNext) {
    const std::string where = fresh_address("size=64k");
    const auto publisher = publisher_at(where);
    for (uint64_t i = 0; i < 1000; ++i)
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 200), 0)); // nobody is there
    const auto early = subscriber_of(where), lossy = subscriber_of(with(where, "policy=drop"));
    ASSERT_EQ(IPC_OK, publish(*publisher, message_of(1000, 200)));
    const auto late = subscriber_of(where);
    ASSERT_EQ(IPC_OK, publish(*publisher, message_of(1001, 200)));
    for (const auto& [subscriber, first] : {std::pair{&early, 1000}, std::pair{&lossy, 1000}, std::pair{&late, 1001}})
        for (int i = first; i <= 1001; ++i) {
            const Received got = receive(**subscriber, 0);
            ASSERT_EQ(IPC_OK, got.status);
            EXPECT_EQ(i, index_of(got.bytes.data(), got.bytes.size(), 200));
            EXPECT_EQ(0u, got.lost);
        }
}

// Joining while the publisher is at full speed: position and number must fit together, or `lost` would be wrong.
TEST(Broadcast, JoiningAPublisherAtFullSpeedCountsFromTheRightMessage) {
    const std::string where = fresh_address("size=64k&policy=drop");
    const auto publisher = publisher_at(where);
    std::atomic<bool> stop{false};
    std::thread publishing([&] {
        for (uint64_t i = 0; !stop; ++i) ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 20), 0));
    });
    for (int round = 0; round < 50; ++round) {
        const auto subscriber = subscriber_of(where);
        int64_t before = -1;
        for (int i = 0; i < 20; ++i) {
            const Received got = receive(*subscriber, patience_ms, 28);
            ASSERT_EQ(IPC_OK, got.status) << last_error();
            const int64_t index = index_of(got.bytes.data(), got.bytes.size(), 20);
            ASSERT_GE(index, 0);
            if (before >= 0) {
                ASSERT_EQ(before + 1 + static_cast<int64_t>(got.lost), index);
            }
            before = index;
        }
    }
    stop = true;
    publishing.join();
}

TEST(Broadcast, AnOvertakenReaderKeepsAQuarterOfTheRingOfSmallMessages) {
    const std::string where = fresh_address("size=64k&policy=drop");
    const auto publisher = publisher_at(where);
    const auto subscriber = subscriber_of(where);
    constexpr uint64_t count = 10'000; // 32 bytes each in the ring: some five rings
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 0), 0));
    uint64_t next = 0, received = 0;
    for (; next != count; ++received) {
        const Received got = receive(*subscriber, 0);
        ASSERT_EQ(IPC_OK, got.status);
        const auto index = static_cast<uint64_t>(index_of(got.bytes.data(), got.bytes.size(), 0));
        ASSERT_EQ(next + got.lost, index);
        next = index + 1;
    }
    EXPECT_GE(received, 65536u / 32 / 4);
}

TEST(Broadcast, PositionsAndNumbersMayWrap) {
    for (const char* policy : {"wait", "drop"}) {
        Address address;
        ASSERT_EQ(IPC_OK, Address::parse(fresh_address("size=64k&policy=" + std::string(policy)), &address));
        posix::LocalName name;
        ASSERT_EQ(IPC_OK, posix::private_name(address, "broadcast-", &name));
        broadcast::RingPublisher publisher(address, 65536, {uint64_t{0} - 16 * 7000, UINT64_MAX - 700});
        ASSERT_EQ(IPC_OK, publisher.open(name)) << last_error();
        const auto subscriber = subscriber_of(address.text());
        std::thread reading([&] {
            uint64_t next = 0;
            while (next < 3000) {
                const Received got = receive(*subscriber, patience_ms, 308);
                ASSERT_EQ(IPC_OK, got.status) << last_error();
                const int64_t index = index_of(got.bytes.data(), got.bytes.size(), 300);
                ASSERT_EQ(static_cast<int64_t>(next + got.lost), index);
                next = static_cast<uint64_t>(index) + 1;
            }
        });
        for (uint64_t i = 0; i < 3000; ++i) ASSERT_EQ(IPC_OK, publish(publisher, message_of(i, 300)));
        reading.join();
    }
}

TEST(Broadcast, NamesAndOptions) {
    const std::string where = fresh_address();
    std::unique_ptr<BroadcastPublisher> publisher, second;
    std::unique_ptr<BroadcastSubscriber> subscriber;
    EXPECT_EQ(IPC_NO_SERVER, subscribe_to(where, &subscriber));
    ASSERT_EQ(IPC_OK, publish_at(where, &publisher));
    EXPECT_EQ(IPC_NAME_IN_USE, publish_at(where, &second));
    EXPECT_TRUE(exists(path_of(where)));
    publisher.reset();
    EXPECT_FALSE(exists(path_of(where)));
    ASSERT_EQ(IPC_OK, publish_at(where, &publisher)) << "the name is free again";
    for (const char* wrong : {"size=63k", "size=96k", "size=8G"})
        EXPECT_EQ(IPC_BAD_OPTION, publish_at(fresh_address(wrong), &second));
    EXPECT_EQ(IPC_BAD_OPTION, subscribe_to(with(where, "policy=maybe"), &subscriber));
    ipc_listener* listener = nullptr;
    EXPECT_EQ(IPC_WRONG_STATE, ipc_listen(where.c_str(), &listener));
    ipc_publisher* channel = nullptr;
    EXPECT_EQ(IPC_WRONG_STATE, ipc_publisher_open("shm://name", &channel));
}

} // namespace
} // namespace ipc::test
