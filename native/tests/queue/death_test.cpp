// Participants that die: at each step of what they do, and killed at random while others go on.
#include "queue_under_test.hpp"

#include <random>
#include <sys/mman.h>
#include <thread>

namespace ipc {
namespace {

using test::Numbered;
using test::put;
using test::QueueName;
using test::take;

// Plays a participant up to a step and lets it die there: the file is closed, as the kernel does it, and nothing else is done.
class Dying {
  public:
    explicit Dying(const QueueName& name) : file_(name.open_file()), header_(file_->header()) {}

    Dying& lock_writers(bool with_sleepers = false) {
        header_.writer_lock.store(file_->participant() << 1 | (with_sleepers ? 1 : 0));
        return *this;
    }
    Dying& lock_readers() {
        header_.reader_lock.store(file_->participant() << 1);
        return *this;
    }
    // Half of a record, beyond what is published.
    Dying& write_half() {
        const uint32_t length = 100;
        std::byte* at = file_->data() + header_.tail.load();
        std::memcpy(at, &length, 4);
        std::memset(at + 4, 0xEE, 50);
        return *this;
    }
    // A whole record and the moment it exists.
    Dying& publish(const std::string& message) {
        const uint32_t tail = header_.tail.load(), length = static_cast<uint32_t>(message.size());
        std::byte* at = file_->data() + tail;
        std::memcpy(at, &length, 4);
        std::memcpy(at + 4, &tail, 4);
        std::memcpy(at + 8, message.data(), length);
        header_.tail.store(tail + queue::footprint_of(length));
        return *this;
    }
    // The moment the first message is taken.
    Dying& consume(const std::string& message) {
        header_.head.store(header_.head.load() + queue::footprint_of(static_cast<uint32_t>(message.size())));
        return *this;
    }

  private:
    std::unique_ptr<queue::QueueFile> file_;
    queue::Header& header_;
};

TEST(QueueDeath, OfAWriterAtEachStepLosesNothing) {
    const QueueName name;
    auto queue = name.open("size=64k");
    ASSERT_EQ(put(*queue, "before"), IPC_OK);
    Dying(name).lock_writers();
    ASSERT_EQ(put(*queue, "after the lock"), IPC_OK);
    Dying(name).lock_writers(true).write_half();
    ASSERT_EQ(put(*queue, "after half a record"), IPC_OK);
    Dying(name).lock_writers().publish("its own");
    ASSERT_EQ(put(*queue, "after publishing"), IPC_OK);
    Dying(name).publish("without waking");
    for (const char* text :
         {"before", "after the lock", "after half a record", "its own", "after publishing", "without waking"})
        EXPECT_EQ(take(*queue), text);
    EXPECT_EQ(take(*queue), test::refused(IPC_TIMED_OUT));
}

TEST(QueueDeath, OfAReaderAtEachStepLosesNothingItHadNotTaken) {
    const QueueName name;
    auto queue = name.open("size=64k");
    for (const char* text : {"first", "second", "third"}) ASSERT_EQ(put(*queue, text), IPC_OK);
    Dying(name).lock_readers();
    EXPECT_EQ(take(*queue), "first");
    Dying(name).lock_readers().consume("second");
    EXPECT_EQ(take(*queue), "third");
    EXPECT_EQ(take(*queue), test::refused(IPC_TIMED_OUT));
}

// The dead one published and did not wake: the sleeper finds the message by itself.
TEST(QueueDeath, BeforeWakingIsMadeGoodByTheSleeper) {
    const QueueName name;
    auto queue = name.open("size=64k&wait=block");
    std::thread sleeper([&] { EXPECT_EQ(take(*queue, test::patience), "unannounced"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    test::Stopwatch watch;
    Dying(name).lock_writers().publish("unannounced");
    sleeper.join();
    EXPECT_LT(watch.ms(), 2000);
}

TEST(QueueDeath, AStoppedHolderIsNotRobbed) {
    const QueueName name;
    auto holder = name.open_file();
    auto queue = name.open();
    holder->header().writer_lock.store(holder->participant() << 1);
    test::Stopwatch watch;
    EXPECT_EQ(put(*queue, "x", 0), IPC_TIMED_OUT);
    EXPECT_EQ(put(*queue, "x", 200), IPC_TIMED_OUT);
    EXPECT_GE(watch.ms(), 209); // 10 of them for the time-out of 0
    std::thread closer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        queue->close();
    });
    EXPECT_EQ(put(*queue, "x", test::forever), IPC_CLOSED);
    closer.join();
}

// A new participant must not get the number that a lock still names: the dead would seem alive again.
TEST(QueueDeath, ItsNumberIsNotGivenAwayWhileALockNamesIt) {
    const QueueName name;
    auto file = name.open_file();
    const uint32_t next = file->header().next_participant.load();
    file->header().writer_lock.store(next << 1);
    auto queue = name.open();
    EXPECT_EQ(put(*queue, "through"), IPC_OK);
    // Numbers begin anew after the last, and those of the living are left alone.
    file->header().next_participant.store(0x7FFFFFFF);
    auto last = name.open_file();
    auto first = name.open_file();
    EXPECT_NE(last->participant(), 0u);
    EXPECT_NE(first->participant(), file->participant());
    EXPECT_TRUE(last->is_alive(file->participant()));
    EXPECT_TRUE(last->is_alive(last->participant()));
    EXPECT_FALSE(last->is_alive(12345));
}

// What the processes of one test tell each other, in memory they share by fork.
struct Ledger {
    static constexpr uint32_t most_writers = 64;
    std::atomic<uint32_t> done[most_writers];     // by writer: messages whose enqueue returned
    std::atomic<uint32_t> received[most_writers]; // by writer: messages some reader got and found right ...
    std::atomic<uint32_t> wrong;                  // ... and those that were not whole, or out of order
};

class Ledgers {
  public:
    Ledgers() : memory_(mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
    ~Ledgers() { munmap(memory_, sizeof(Ledger)); }
    Ledger& operator*() { return *static_cast<Ledger*>(memory_); }

  private:
    void* memory_;
};

pid_t start(const std::function<void()>& work) {
    const pid_t process = fork();
    if (process == 0) {
        work();
        _exit(0);
    }
    return process;
}

void kill_and_wait(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
}

// A message of some length whose copying is most of what its writer does, so that killing a writer often meets it inside the
// lock: writer and number, then a stretch of one pattern that depends on the number.
class Stretch {
  public:
    static constexpr size_t length = 20'000;
    Stretch() : pattern_(test::pattern(length + variants)) {}

    Status enqueue(MessageQueue& queue, uint32_t writer, uint32_t number) {
        std::byte* message = pattern_.data() + number % variants;
        std::byte kept[8];
        std::memcpy(kept, message, 8);
        std::memcpy(message, &writer, 4);
        std::memcpy(message + 4, &number, 4);
        const Status status = queue.enqueue(message, length, Deadline(test::patience));
        std::memcpy(message, kept, 8);
        return status;
    }
    bool is_whole(const std::byte* message, size_t size) const {
        uint32_t number;
        std::memcpy(&number, message + 4, 4);
        return size == length && std::memcmp(message + 8, pattern_.data() + number % variants + 8, length - 8) == 0;
    }

  private:
    static constexpr size_t variants = 251;
    std::vector<std::byte> pattern_;
};

void write_stretches(const QueueName& name, uint32_t writer, Ledger& ledger) {
    auto queue = name.open();
    Stretch stretch;
    for (uint32_t number = 0;; ++number) {
        if (stretch.enqueue(*queue, writer, number) != IPC_OK) _exit(1);
        ledger.done[writer].store(number + 1);
    }
}

void write_for_ever(const QueueName& name, uint32_t writer, Ledger& ledger) {
    auto queue = name.open();
    std::byte bytes[Numbered::longest];
    for (uint32_t number = 0;; ++number) {
        const Numbered message{writer, number};
        if (queue->enqueue(bytes, message.write(bytes), Deadline(test::patience)) != IPC_OK) _exit(1);
        ledger.done[writer].store(number + 1);
    }
}

// Takes one message and enters it; false after the time-out. A gap is right only where readers were killed with a message in hand.
bool read_one(MessageQueue& queue, Ledger& ledger, uint32_t* next, int32_t timeout_ms) {
    std::byte bytes[Numbered::longest];
    size_t length = 0;
    if (queue.dequeue(bytes, sizeof bytes, &length, Deadline(timeout_ms)) != IPC_OK) return false;
    Numbered message{};
    if (!Numbered::read(bytes, length, &message) || message.writer != 0 || message.number < *next) {
        ++ledger.wrong;
        return true;
    }
    *next = message.number + 1;
    ++ledger.received[0];
    return true;
}

void wait_for_more(const std::atomic<uint32_t>& count, uint32_t than) {
    test::Stopwatch watch;
    while (count <= than && watch.ms() < test::patience) usleep(50);
    ASSERT_LT(watch.ms(), test::patience);
}

void pause_up_to(std::mt19937& random, uint32_t us) {
    usleep(static_cast<useconds_t>(random() % us));
}

TEST(QueueKill, WritersLoseNothingThatEnqueueReported) {
    constexpr uint32_t rounds = 15, most_rounds = Ledger::most_writers / 2;
    const QueueName name;
    Ledgers ledgers;
    Ledger& ledger = *ledgers;
    auto keeper = name.open("size=32M");
    const auto file = name.open_file();
    int killed_inside = 0; // holding the lock: what this test is for, so it goes on until it happens
    const Stretch stretch;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed)); // told with what fails
    std::mt19937 random(seed);
    const auto kill_writer = [&](pid_t process) {
        kill_and_wait(process);
        const uint32_t holder = file->header().writer_lock.load() >> 1;
        killed_inside += holder != 0 && !file->is_alive(holder);
    };
    std::vector<uint32_t> next(2 * most_rounds);
    // Takes one message, which must be the next of its writer; false if there is none.
    std::vector<std::byte> bytes(Stretch::length);
    const auto take_one = [&] {
        size_t length = 0;
        if (keeper->dequeue(bytes.data(), bytes.size(), &length, Deadline(0)) != IPC_OK) return false;
        uint32_t writer, number;
        std::memcpy(&writer, bytes.data(), 4);
        std::memcpy(&number, bytes.data() + 4, 4);
        ledger.wrong += writer >= next.size() || number != next[writer]++ || !stretch.is_whole(bytes.data(), length);
        return true;
    };
    // Reading meanwhile, for the queue may be full.
    const auto goes_on = [&](uint32_t writer) {
        const uint32_t before = ledger.done[writer];
        const test::Stopwatch watch;
        while (ledger.done[writer] <= before && watch.ms() < test::patience)
            if (!take_one()) usleep(50);
        return ledger.done[writer] > before;
    };
    for (uint32_t round = 0; round < rounds || (killed_inside == 0 && round < most_rounds); ++round) {
        const uint32_t one = 2 * round, other = one + 1;
        const pid_t first = start([&] { write_stretches(name, one, ledger); });
        const pid_t second = start([&] { write_stretches(name, other, ledger); });
        EXPECT_TRUE(goes_on(one) && goes_on(other));
        pause_up_to(random, 3000);
        kill_writer(first);
        // Through the lock that the dead one may have held.
        EXPECT_TRUE(goes_on(other));
        pause_up_to(random, 2000);
        kill_writer(second);
        while (take_one()) continue;
        ASSERT_EQ(ledger.wrong, 0u);
        for (const uint32_t writer : {one, other}) {
            // One more may be in than its writer lived to report.
            EXPECT_GE(next[writer], ledger.done[writer]);
            EXPECT_LE(next[writer], ledger.done[writer] + 1);
        }
    }
    RecordProperty("killed_inside", killed_inside);
    EXPECT_GT(killed_inside, 0);
}

TEST(QueueKill, ReadersTakeNothingWithThemButWhatTheyHeld) {
    const QueueName name;
    Ledgers ledgers;
    Ledger& ledger = *ledgers;
    auto keeper = name.open("size=64k");
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed)); // told with what fails
    std::mt19937 random(seed);
    const pid_t writer = start([&] { write_for_ever(name, 0, ledger); });
    const auto read_for_ever = [&] {
        auto queue = name.open("size=64k");
        uint32_t next = 0;
        while (true) read_one(*queue, ledger, &next, 1000);
    };
    constexpr uint32_t kills = 40;
    pid_t readers[2] = {start(read_for_ever), start(read_for_ever)};
    for (uint32_t i = 0; i < kills; ++i) {
        pause_up_to(random, 10'000);
        kill_and_wait(readers[i % 2]);
        // The writer still goes on, which with a full queue takes a living reader.
        wait_for_more(ledger.done[0], ledger.done[0] + 1000);
        readers[i % 2] = start(read_for_ever);
    }
    kill_and_wait(writer);
    for (const pid_t reader : readers) kill_and_wait(reader);
    uint32_t next = 0;
    while (read_one(*keeper, ledger, &next, 0)) continue;
    EXPECT_EQ(ledger.wrong, 0u);
    EXPECT_LE(ledger.received[0], ledger.done[0] + 1);
    EXPECT_GE(ledger.received[0] + kills + 2, ledger.done[0]);
}

} // namespace
} // namespace ipc
