// What a queue does when nobody dies and nobody lies.
#include "queue_under_test.hpp"

#include <deque>
#include <random>
#include <thread>
#include <tuple>

namespace ipc {
namespace {

using test::put;
using test::QueueName;
using test::refused;
using test::take;

TEST(Queue, KeepsOrderAndBoundaries) {
    const QueueName name;
    auto queue = name.open();
    for (const char* text : {"first", "", "a somewhat longer third message", "4"})
        EXPECT_EQ(put(*queue, std::string(text)), IPC_OK);
    EXPECT_EQ(take(*queue), "first");
    EXPECT_EQ(take(*queue), "");
    EXPECT_EQ(take(*queue), "a somewhat longer third message");
    EXPECT_EQ(take(*queue), "4");
    EXPECT_EQ(take(*queue), refused(IPC_TIMED_OUT));
}

TEST(Queue, OutlivesItsMakerAndKeepsItsSize) {
    const QueueName name;
    auto maker = name.open("size=128k");
    const size_t limit = maker->limit();
    EXPECT_EQ(limit, size_t{64 * 1024 - 8});
    ASSERT_EQ(put(*maker, "kept"), IPC_OK);
    maker.reset();
    auto next = name.open("size=1M");
    EXPECT_EQ(next->limit(), limit);
    EXPECT_EQ(take(*next), "kept");
}

TEST(Queue, IsOneForAllWhoOpenIt) {
    const QueueName name;
    auto one = name.open();
    auto other = name.open();
    ASSERT_EQ(put(*one, "from one"), IPC_OK);
    ASSERT_EQ(put(*other, "from the other"), IPC_OK);
    EXPECT_EQ(take(*other), "from one");
    EXPECT_EQ(take(*one), "from the other");
}

TEST(Queue, RemovedGoesOnForWhoHasItOpen) {
    const QueueName name;
    auto one = name.open();
    auto other = name.open();
    ASSERT_EQ(test::remove_queue(name.address()), IPC_OK);
    EXPECT_EQ(test::remove_queue(name.address()), IPC_NO_SERVER);
    auto anew = name.open();
    ASSERT_EQ(put(*one, "nameless"), IPC_OK);
    EXPECT_EQ(take(*anew), refused(IPC_TIMED_OUT));
    EXPECT_EQ(take(*other), "nameless");
}

TEST(Queue, IsForItsOwnerAloneWhateverTheUmask) {
    const mode_t before = umask(0);
    const QueueName open_umask, strict_umask;
    auto one = open_umask.open();
    umask(0777);
    auto other = strict_umask.open();
    umask(before);
    for (const QueueName* name : {&open_umask, &strict_umask}) {
        struct stat status {};
        ASSERT_EQ(stat(name->path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0600u);
    }
}

TEST(Queue, RefusesWhatItCannotBe) {
    std::unique_ptr<MessageQueue> queue;
    const QueueName name;
    for (const char* size : {"size=32k", "size=100k", "size=2G", "size=65535"})
        EXPECT_EQ(test::open_queue(name.address(size), &queue), IPC_BAD_OPTION) << size;
    EXPECT_EQ(test::open_queue("queue://../etc/passwd", &queue), IPC_BAD_ADDRESS);
    EXPECT_EQ(test::open_queue("queue://.hidden", &queue), IPC_BAD_ADDRESS);
    EXPECT_FALSE(test::exists(name.path()));
}

TEST(Queue, RefusesMessagesOverItsLimit) {
    const QueueName name;
    auto queue = name.open("size=64k");
    const auto longest = test::pattern(queue->limit());
    // Twice, so that it stands at the beginning and then not.
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(put(*queue, test::pattern(queue->limit() + 1)), IPC_MESSAGE_TOO_LARGE);
        ASSERT_EQ(put(*queue, longest, 0), IPC_OK);
        std::vector<std::byte> buffer(longest.size());
        size_t length = 0;
        ASSERT_EQ(queue->dequeue(buffer.data(), buffer.size(), &length, Deadline(0)), IPC_OK);
        EXPECT_TRUE(buffer == longest);
        ASSERT_EQ(put(*queue, "between"), IPC_OK);
        EXPECT_EQ(take(*queue), "between");
    }
    EXPECT_EQ(name.open("max=10")->limit(), 10u);
    EXPECT_EQ(put(*name.open("max=10"), "eleven bytes"), IPC_MESSAGE_TOO_LARGE);
    EXPECT_EQ(queue->enqueue("", SIZE_MAX, Deadline(0)), IPC_MESSAGE_TOO_LARGE);
}

TEST(Queue, KeepsAMessageThatDoesNotFitTheBuffer) {
    const QueueName name;
    auto queue = name.open();
    ASSERT_EQ(put(*queue, "twelve bytes"), IPC_OK);
    char buffer[64];
    size_t length = 0;
    EXPECT_EQ(queue->dequeue(buffer, 11, &length, Deadline(0)), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, 12u);
    EXPECT_EQ(queue->dequeue(nullptr, 0, &length, Deadline(0)), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(take(*queue), "twelve bytes");
}

TEST(Queue, TimesOutWhenFullAndWhenEmpty) {
    const QueueName name;
    for (const char* wait : {"wait=block", "wait=spin", "wait=adaptive"}) {
        auto queue = name.open(std::string("size=64k&") + wait);
        const auto message = test::pattern(1000);
        test::Stopwatch empty;
        EXPECT_EQ(take(*queue, 60), refused(IPC_TIMED_OUT));
        EXPECT_GE(empty.ms(), 59);
        int count = 0;
        while (put(*queue, message, 0) == IPC_OK) ++count;
        EXPECT_EQ(count, 65);
        test::Stopwatch full;
        EXPECT_EQ(put(*queue, message, 60), IPC_TIMED_OUT);
        EXPECT_GE(full.ms(), 59);
        for (int i = 0; i < count; ++i) EXPECT_EQ(take(*queue).size(), message.size());
        EXPECT_EQ(take(*queue), refused(IPC_TIMED_OUT));
        EXPECT_EQ(put(*queue, message, 0), IPC_OK);
        EXPECT_EQ(take(*queue).size(), message.size());
    }
}

// Against a model, with positions that pass the end of 32 bits on the way.
TEST(Queue, PassesTheEndOfItsPositions) {
    const QueueName name;
    auto file = name.open_file();
    const uint32_t start = 0u - 3 * 64 * 1024 - 1000;
    for (auto* word :
         {&file->header().tail, &file->header().head, &file->header().head_seen, &file->header().tail_seen})
        word->store(start);
    auto writer = name.open();
    auto reader = name.open();
    std::mt19937 random(7);
    std::deque<std::vector<std::byte>> model;
    for (uint32_t i = 0; i < 20'000; ++i) {
        const size_t length = random() % 8 == 0 ? random() % (reader->limit() + 1) : random() % 200;
        auto message = test::pattern(length, i);
        if (random() % 2 == 0) {
            if (put(*writer, message, 0) == IPC_OK) model.push_back(std::move(message));
            continue;
        }
        std::vector<std::byte> buffer(reader->limit());
        size_t taken = 0;
        const Status status = reader->dequeue(buffer.data(), buffer.size(), &taken, Deadline(0));
        ASSERT_EQ(status, model.empty() ? IPC_TIMED_OUT : IPC_OK);
        if (status != IPC_OK) continue;
        buffer.resize(taken);
        ASSERT_TRUE(buffer == model.front()) << i;
        model.pop_front();
    }
    EXPECT_LT(file->header().tail.load(), start);
}

// Writers and readers, each with a handle of its own or all over one (where the thread sanitizer sees that it is one memory):
// every message once, whole and in its writer's order.
class QueueParticipants : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(QueueParticipants, LoseNothingAmongThreads) {
    constexpr uint32_t writers = 3, readers = 3, each = 20'000;
    const QueueName name;
    const auto [wait, one_handle] = GetParam();
    std::vector<std::shared_ptr<MessageQueue>> queues;
    for (uint32_t i = 0; i < writers + readers; ++i)
        queues.push_back(one_handle && i > 0 ? queues.front() : name.open(std::string("size=64k&wait=") + wait));
    std::atomic<uint32_t> left{writers * each};
    std::vector<std::atomic<uint32_t>> seen(writers * each);
    std::atomic<bool> good{true};
    std::vector<std::thread> threads;
    for (uint32_t w = 0; w < writers; ++w)
        threads.emplace_back([&, w] {
            std::byte bytes[test::Numbered::longest];
            for (uint32_t n = 0; n < each; ++n) {
                const test::Numbered message{w, n};
                if (queues[w]->enqueue(bytes, message.write(bytes), Deadline(test::patience)) != IPC_OK) good = false;
            }
        });
    for (uint32_t r = 0; r < readers; ++r)
        threads.emplace_back([&, r] {
            std::byte bytes[test::Numbered::longest];
            std::vector<int64_t> last(writers, -1);
            while (left.load() > 0) {
                size_t length = 0;
                if (queues[writers + r]->dequeue(bytes, sizeof bytes, &length, Deadline(20)) != IPC_OK) continue;
                test::Numbered message{};
                if (!test::Numbered::read(bytes, length, &message) || message.writer >= writers ||
                    message.number >= each || last[message.writer] >= message.number) {
                    good = false;
                    break;
                }
                last[message.writer] = message.number;
                ++seen[message.writer * each + message.number];
                --left;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(good);
    for (const auto& count : seen) ASSERT_EQ(count, 1u);
}

INSTANTIATE_TEST_SUITE_P(Waits, QueueParticipants,
                         testing::Combine(testing::Values("adaptive", "block", "spin"), testing::Bool()),
                         [](const auto& parameters) {
                             return std::string(std::get<0>(parameters.param)) +
                                    (std::get<1>(parameters.param) ? "OneHandle" : "OwnHandles");
                         });

// Closes a queue while a thread is blocked on it.
void close_interrupts(const std::string& wait, bool full) {
    const QueueName name;
    auto queue = name.open("size=64k&wait=" + wait);
    auto other = name.open("size=64k&wait=" + wait);
    while (full && put(*queue, test::pattern(8000), 0) == IPC_OK) continue;
    Status status = IPC_OK;
    std::atomic<bool> blocked{false};
    std::thread waiter([&] {
        blocked = true;
        char buffer[8000];
        size_t length = 0;
        status = full ? queue->enqueue(buffer, sizeof buffer, Deadline(test::forever))
                      : queue->dequeue(buffer, sizeof buffer, &length, Deadline(test::forever));
    });
    while (!blocked) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    test::Stopwatch watch;
    queue->close();
    waiter.join();
    EXPECT_LT(watch.ms(), 1000);
    EXPECT_EQ(status, IPC_CLOSED);
    EXPECT_EQ(put(*queue, "x"), IPC_CLOSED);
    EXPECT_EQ(take(*queue), refused(IPC_CLOSED));
    // The queue itself goes on.
    EXPECT_EQ(take(*other).empty(), false);
}

TEST(QueueClose, InterruptsWhoWaits) {
    for (const char* wait : {"adaptive", "block", "spin"})
        for (const bool full : {false, true}) close_interrupts(wait, full);
}

TEST(QueueParking, WakesReadersAndWriters) {
    const QueueName name;
    auto queue = name.open("size=64k&wait=block");
    auto other = name.open("wait=block");
    std::thread echo([&] {
        for (int i = 0; i < 200; ++i) EXPECT_EQ(take(*other, test::patience), std::to_string(i));
    });
    for (int i = 0; i < 200; ++i) {
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ASSERT_EQ(put(*queue, std::to_string(i)), IPC_OK);
    }
    echo.join();
    const auto large = test::pattern(30'000);
    std::thread drain([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::vector<std::byte> buffer(large.size());
        for (int i = 0; i < 50; ++i) {
            size_t length = 0;
            EXPECT_EQ(other->dequeue(buffer.data(), buffer.size(), &length, Deadline(test::patience)), IPC_OK);
            EXPECT_TRUE(buffer == large);
        }
    });
    for (int i = 0; i < 50; ++i) ASSERT_EQ(put(*queue, large), IPC_OK);
    drain.join();
}

} // namespace
} // namespace ipc
