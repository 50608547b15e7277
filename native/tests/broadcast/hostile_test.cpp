// Peers that break the rules: subscribers that lie about how far they are or try to write, publishers that hand over rubbish.
#include "shared_memory/handover.hpp"
#include "support.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/mman.h>

namespace ipc::test {
namespace {

using namespace broadcast;
using shared_memory::Access;
using shared_memory::Mapping;

constexpr Join good_join{join_magic, 1, static_cast<uint32_t>(Policy::wait), 2};

posix::Descriptor connect_to(const std::string& where) {
    posix::Descriptor socket;
    EXPECT_EQ(IPC_OK, posix::connect_local({where, path_of(where)}, Deadline(patience_ms), &socket)) << last_error();
    return socket;
}

bool is_ended(const posix::Descriptor& socket, int within_ms = patience_ms) {
    pollfd end{socket.get(), POLLIN, 0};
    char byte;
    return poll(&end, 1, within_ms) == 1 && recv(socket.get(), &byte, 1, MSG_DONTWAIT) <= 0;
}

// A subscriber made by hand.
struct RawSubscriber {
    posix::Descriptor socket, data, page_file;
    Greeting greeting{};
    Mapping page_memory;

    explicit RawSubscriber(const std::string& where) : socket(connect_to(where)) {
        EXPECT_EQ(0, shared_memory::send_with_descriptors(socket.get(), &good_join, sizeof good_join, nullptr, 0));
        pollfd answered{socket.get(), POLLIN, 0};
        EXPECT_EQ(1, poll(&answered, 1, patience_ms));
        posix::Descriptor received[2];
        size_t count = 0;
        EXPECT_EQ(
            static_cast<long>(sizeof greeting),
            shared_memory::receive_with_descriptors(socket.get(), &greeting, sizeof greeting, received, 2, &count));
        EXPECT_EQ(2u, count);
        data = std::move(received[0]);
        page_file = std::move(received[1]);
        EXPECT_EQ(IPC_OK, shared_memory::map_memory(page_file, page_bytes, Access::read_write, &page_memory));
    }
    ReaderPage& page() const { return *reinterpret_cast<ReaderPage*>(page_memory.data()); }
};

TEST(BroadcastHostile, ASubscriberCannotWriteToTheMessages) {
#if defined(IPC_THREAD_SANITIZER)
    GTEST_SKIP() << "this build has both ends share one mapping (one_mapping_tsan.cpp)";
#endif
    const std::string where = fresh_address("size=64k");
    const auto publisher = publisher_at(where);
    const RawSubscriber raw(where);
    const size_t bytes = shared_memory::sealed_bytes(raw.data);
    ASSERT_EQ(data_file_bytes(65536), bytes);
    Mapping writable;
    EXPECT_NE(IPC_OK, shared_memory::map_memory(raw.data, bytes, Access::read_write, &writable));
    EXPECT_EQ(-1, pwrite(raw.data.get(), "x", 1, 0));
    EXPECT_EQ(-1, ftruncate(raw.data.get(), 0));
    Mapping readable;
    ASSERT_EQ(IPC_OK, shared_memory::map_memory(raw.data, bytes, Access::read, &readable));
    EXPECT_EQ(-1, mprotect(readable.data(), bytes, PROT_READ | PROT_WRITE));
    // The owner of a file may open it again for writing; the seal still refuses.
    const std::string again = "/proc/self/fd/" + std::to_string(raw.data.get());
    const posix::Descriptor reopened(open(again.c_str(), O_RDWR | O_CLOEXEC));
    if (reopened) {
        EXPECT_NE(IPC_OK, shared_memory::map_memory(reopened, bytes, Access::read_write, &writable));
        EXPECT_EQ(-1, pwrite(reopened.get(), "x", 1, 0));
        EXPECT_EQ(-1, ftruncate(reopened.get(), 0));
    }
}

TEST(BroadcastHostile, AReaderWhoseCursorIsImpossibleIsDroppedAndNobodyElse) {
    for (const bool beyond : {true, false}) {
        const std::string where = fresh_address("size=64k");
        const auto publisher = publisher_at(where);
        const auto honest = subscriber_of(where);
        const RawSubscriber raw(where);
        EXPECT_EQ(2u, subscribers_of(*publisher));
        raw.page().cursor.store(raw.greeting.position + (beyond ? uint64_t{1} << 40 : ~uint64_t{15}));
        for (uint64_t i = 0; i < 400; ++i) { // several rings: without the check this would wait, or overwrite
            ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 1000), 0)) << last_error();
            const Received got = receive(*honest, 0);
            ASSERT_EQ(static_cast<int64_t>(i), index_of(got.bytes.data(), got.bytes.size(), 1000));
        }
        EXPECT_TRUE(is_ended(raw.socket));
        EXPECT_EQ(1u, subscribers_of(*publisher));
    }
}

TEST(BroadcastHostile, AReaderThatScribblesOverItsPageCostsNothing) {
    const std::string where = fresh_address("size=64k&policy=drop");
    const auto publisher = publisher_at(where);
    const auto honest = subscriber_of(where);
    const RawSubscriber raw(where);
    std::memset(raw.page_memory.data(), 0xFF, page_bytes);
    for (uint64_t i = 0; i < 400; ++i) {
        ASSERT_EQ(IPC_OK, publish(*publisher, message_of(i, 1000), 0));
        ASSERT_EQ(IPC_OK, receive(*honest, 0).status);
    }
}

TEST(BroadcastHostile, PendingConnectionsThatSpeakRubbishOrNothingAreSentAway) {
    const std::string where = fresh_address();
    const auto publisher = publisher_at(where);
    for (Join join : {Join{0, 1, 1, 2}, Join{join_magic, 2, 1, 2}, Join{join_magic, 1, 3, 2}}) {
        const auto socket = connect_to(where);
        EXPECT_EQ(0, shared_memory::send_with_descriptors(socket.get(), &join, sizeof join, nullptr, 0));
        EXPECT_TRUE(is_ended(socket));
    }
    const auto cut = connect_to(where);
    EXPECT_EQ(0, shared_memory::send_with_descriptors(cut.get(), &good_join, 7, nullptr, 0));
    EXPECT_TRUE(is_ended(cut));
    // Descriptors with it are not ours to keep.
    const auto generous = connect_to(where);
    const int gift = cut.get();
    EXPECT_EQ(0, shared_memory::send_with_descriptors(generous.get(), &good_join, sizeof good_join, &gift, 1));
    EXPECT_TRUE(is_ended(generous));
    const auto silent = connect_to(where);
    EXPECT_FALSE(is_ended(silent, 100));
    EXPECT_NE(nullptr, subscriber_of(where)) << "who says nothing keeps nobody out";
    EXPECT_TRUE(is_ended(silent));
    // Who speaks after it was let in is out.
    const RawSubscriber talkative(where);
    EXPECT_EQ(1, ::send(talkative.socket.get(), "x", 1, MSG_NOSIGNAL));
    EXPECT_TRUE(is_ended(talkative.socket));
    EXPECT_TRUE(eventually([&] { return subscribers_of(*publisher) == 0; }));
}

// A publisher made by hand: answers one subscriber with what the test wants.
struct RawPublisher {
    std::string where = fresh_address();
    std::unique_ptr<posix::LocalListener> listener;
    posix::Descriptor connection, data, page_file;
    Mapping memory;
    Greeting greeting{shared_memory::handover_magic, 1, layout_broadcast, 0, 0, 1};

    RawPublisher() {
        EXPECT_EQ(IPC_OK, posix::LocalListener::open({where, path_of(where)}, &listener)) << last_error();
        EXPECT_EQ(IPC_OK, shared_memory::make_sealed_memory(data_file_bytes(65536), &data));
        EXPECT_EQ(IPC_OK, shared_memory::make_sealed_memory(page_bytes, &page_file));
        EXPECT_EQ(IPC_OK, shared_memory::map_memory(data, data_file_bytes(65536), Access::read_write, &memory));
        header().magic = shared_memory::mapping_magic;
        header().version = 1;
        header().layout = layout_broadcast;
        header().ring_bytes = 65536;
    }
    DataHeader& header() const { return *reinterpret_cast<DataHeader*>(memory.data()); }
    Record& record(uint64_t offset = 0) const {
        return *reinterpret_cast<Record*>(memory.data() + header_bytes + offset);
    }

    Status answer(std::unique_ptr<BroadcastSubscriber>* subscriber, size_t descriptors = 2) {
        std::thread answering([&] {
            ASSERT_EQ(IPC_OK, listener->accept(Deadline(patience_ms), &connection));
            Join join{};
            ASSERT_EQ(static_cast<ssize_t>(sizeof join), recv(connection.get(), &join, sizeof join, MSG_WAITALL));
            const int both[] = {data.get(), page_file.get()};
            ASSERT_EQ(0, shared_memory::send_with_descriptors(connection.get(), &greeting, sizeof greeting, both,
                                                              descriptors));
        });
        const Status status = subscribe_to(where, subscriber);
        answering.join();
        return status;
    }
    void publish(uint32_t length, uint64_t number, uint64_t published) {
        record().length = length;
        record().number = number;
        header().claimed = published;
        header().published.store(published);
    }
};

TEST(BroadcastHostile, RubbishHandedOverIsRefused) {
    std::unique_ptr<BroadcastSubscriber> subscriber;
    using Spoil = void (*)(RawPublisher&);
    for (Spoil spoil : std::initializer_list<Spoil>{
             [](RawPublisher& p) { p.greeting.magic = 1; },
             [](RawPublisher& p) { p.greeting.version = 2; },
             [](RawPublisher& p) { p.greeting.layout = 1; },
             [](RawPublisher& p) { p.greeting.answer = 7; },
             [](RawPublisher& p) { p.greeting.position = 8; },
             [](RawPublisher& p) { p.header().magic = 1; },
             [](RawPublisher& p) { p.header().ring_bytes = 131072; },
             [](RawPublisher& p) { p.header().ring_bytes = 0; },
             [](RawPublisher& p) { p.data.reset(memfd_create("unsealed", MFD_CLOEXEC)); },
             [](RawPublisher& p) {
                 p.page_file = std::move(p.data);
                 p.data.reset(dup(p.page_file.get()));
             },
         }) {
        RawPublisher raw;
        spoil(raw);
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, raw.answer(&subscriber)) << last_error();
    }
    RawPublisher none, one;
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, none.answer(&subscriber, 0));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, one.answer(&subscriber, 1));
}

TEST(BroadcastHostile, DamagedMessagesBreakTheSubscription) {
    struct Damage {
        uint32_t length;
        uint64_t number, published;
    };
    for (const Damage& damage : {Damage{65536, 1, 65552}, Damage{0xFFFFFFFF, 1, 4096}, Damage{1000, 1, 1000},
                                 Damage{8, 2, 32}, Damage{8, 0, 32}, Damage{32769, 1, 65536}}) {
        RawPublisher raw;
        std::unique_ptr<BroadcastSubscriber> subscriber;
        ASSERT_EQ(IPC_OK, raw.answer(&subscriber)) << last_error();
        raw.publish(damage.length, damage.number, damage.published);
        // Twice: a broken subscription stays so.
        EXPECT_NE(IPC_OK, receive(*subscriber, 0).status) << damage.length;
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, receive(*subscriber, 0).status) << damage.length;
    }
    RawPublisher sound;
    std::unique_ptr<BroadcastSubscriber> subscriber;
    ASSERT_EQ(IPC_OK, sound.answer(&subscriber)) << last_error();
    sound.publish(8, 1, 32);
    EXPECT_EQ(IPC_OK, receive(*subscriber, 0).status) << last_error();
}

TEST(BroadcastHostile, APublisherThatOverwritesWhatItShouldKeepIsFound) {
    RawPublisher raw;
    std::unique_ptr<BroadcastSubscriber> subscriber;
    ASSERT_EQ(IPC_OK, raw.answer(&subscriber)) << last_error();
    raw.publish(8, 1, 32);
    raw.header().claimed = 65536 + 16;
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, receive(*subscriber, 0).status);
}

// A publisher whose every word is nonsense may keep a lossy reader busy, but not beyond its time-out.
TEST(BroadcastHostile, AReaderThatIsAlwaysOvertakenTimesOut) {
    RawPublisher raw;
    std::unique_ptr<BroadcastSubscriber> subscriber;
    raw.where = with(raw.where, "policy=drop");
    ASSERT_EQ(IPC_OK, raw.answer(&subscriber)) << last_error();
    std::atomic<bool> stop{false};
    std::thread racing([&] {
        for (uint64_t at = 0; !stop; at += 1 << 20) {
            raw.header().published.store(at);
            raw.header().claimed.store(at + (uint64_t{1} << 40));
            raw.header().resume.store(at);
        }
    });
    const Stopwatch watch;
    const Status status = receive(*subscriber, 100).status;
    EXPECT_NE(IPC_OK, status);
    EXPECT_LT(watch.ms(), 5000);
    stop = true;
    racing.join();
}

} // namespace
} // namespace ipc::test
