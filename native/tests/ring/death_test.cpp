// Clients killed at every atomic step they take, and at random moments: the others go on, nothing whole is lost but what the dead
// had taken, nothing half is delivered.
#include "support.hpp"

#include <random>
#include <set>
#include <signal.h>
#include <thread>

namespace ipc::ring::test {
namespace {

// The steps of a real mapping, up to the one before which the process is to be killed.
class DyingMemory {
  public:
    DyingMemory(const RingFile& file, unsigned steps)
        : memory_(file.memory(), file.block_count(), file.block_bytes()), left_(steps) {}

    uint32_t count() const { return memory_.count(); }
    uint32_t block_bytes() const { return memory_.block_bytes(); }
    std::byte* payload(uint32_t index) const { return memory_.payload(index); }
    void begin_attempt(unsigned) {}
    uint64_t load(Cursor c) { return step(), memory_.load(c); }
    bool swap(Cursor c, uint64_t a, uint64_t b) { return step(), memory_.swap(c, a, b); }
    uint64_t load(List l) { return step(), memory_.load(l); }
    bool swap(List l, uint64_t a, uint64_t b) { return step(), memory_.swap(l, a, b); }
    uint64_t load_state(uint32_t i) { return step(), memory_.load_state(i); }
    bool swap_state(uint32_t i, uint64_t a, uint64_t b) { return step(), memory_.swap_state(i, a, b); }
    uint32_t load_length(uint32_t i) { return step(), memory_.load_length(i); }
    void store_length(uint32_t i, uint32_t v) { step(), memory_.store_length(i, v); }
    uint32_t load_next(uint32_t i) { return step(), memory_.load_next(i); }
    void store_next(uint32_t i, uint32_t v) { step(), memory_.store_next(i, v); }
    void wake(Side side) { step(), memory_.wake(side); }

  private:
    void step() {
        if (left_-- == 0) kill(getpid(), SIGKILL);
    }
    Memory memory_;
    unsigned left_;
};

// Sends "dead" or takes one message, and is killed before step number `steps` if there are so many.
bool client(const std::string& address, bool writes, unsigned steps) {
    const std::unique_ptr<RingFile> file = opened_file(address);
    if (!file) return false;
    DyingMemory memory(*file, steps);
    Fifo<DyingMemory> fifo(memory);
    Lifo<DyingMemory> lifo(memory);
    const bool in_order = file->order() == Order::fifo;
    const uint32_t me = file->number();
    uint64_t position = 0, blocker = 0;
    uint32_t index = 0, length = 0;
    if (writes) {
        if ((in_order ? fifo.claim_write(me, &position, &blocker) : lifo.claim_write(me, &index)) != Claim::taken)
            return false;
        if (in_order) index = static_cast<uint32_t>(position) & (memory.count() - 1);
        std::memcpy(memory.payload(index), "dead", 4);
        return in_order ? fifo.finish_write(position, me, 4) : lifo.finish_write(index, me, 4);
    }
    if ((in_order ? fifo.claim_read(me, 100, &position, &length, &blocker)
                  : lifo.claim_read(me, 100, &index, &length)) != Claim::taken)
        return false;
    return in_order ? fifo.finish_read(position, me) : lifo.finish_read(index, me);
}

class RingDeath : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, RingDeath, ::testing::Combine(::testing::Values("fifo", "lifo"), ::testing::Bool()));

// Two full laps at least, with the ring filled to its last block: every block must have come back.
void expect_a_working_ring(MessageQueue& ring, unsigned blocks, unsigned waiting, unsigned step) {
    std::string text;
    unsigned fetched = 0;
    while (receive(ring, &text, fetched < waiting ? patience_ms : 0) == IPC_OK) {
        EXPECT_TRUE(text == "dead" || text == "alive") << text << " after step " << step;
        ++fetched;
    }
    for (int lap = 0; lap < 3; ++lap) {
        for (unsigned i = 0; i < blocks; ++i)
            ASSERT_EQ(send(ring, "again" + std::to_string(i)), IPC_OK) << "step " << step << ": " << last_error();
        std::set<std::string> got;
        for (unsigned i = 0; i < blocks; ++i) got.insert(received(ring));
        EXPECT_EQ(got.size(), blocks) << "step " << step;
    }
}

TEST_P(RingDeath, AtAnyStepStopsNobody) {
    const auto order = std::get<0>(GetParam());
    const auto writes = std::get<1>(GetParam());
    unsigned step = 0;
    for (bool killed = true; killed; ++step) {
        ASSERT_LT(step, 60u);
        const std::string address = "ring://" + unique_name() + "?blocks=4&block=100&wait=block&order=" + order;
        const auto ring = opened(address);
        ASSERT_EQ(send(*ring, "alive"), IPC_OK);
        ASSERT_EQ(send(*ring, "alive"), IPC_OK);
        Child child([&] { return client(address, writes, step); });
        const bool finished = child.join(&killed);
        EXPECT_NE(finished, killed);
        Stopwatch watch;
        expect_a_working_ring(*ring, 4, writes ? 2 : 1, step);
        EXPECT_LT(watch.ms(), 5000) << "step " << step;
    }
    EXPECT_GT(step, 6u) << "nobody was killed on the way";
}

TEST_P(RingDeath, AtAnyStepKeepsNoPollerOut) {
    const auto order = std::get<0>(GetParam());
    const auto writes = std::get<1>(GetParam());
    for (unsigned step = 0; step < 12; ++step) {
        const std::string address = "ring://" + unique_name() + "?blocks=2&block=100&order=" + order;
        const auto ring = opened(address);
        ASSERT_EQ(send(*ring, "alive"), IPC_OK);
        Child child([&] { return client(address, writes, step); });
        child.join();
        std::string text;
        unsigned sent = 0;
        Stopwatch watch;
        while (sent < 6 && watch.ms() < patience_ms) {
            if (send(*ring, "again", 0) == IPC_OK) ++sent;
            receive(*ring, &text, 0);
        }
        EXPECT_EQ(sent, 6u) << "step " << step;
    }
}

TEST(RingDeathOf, ANewOpenerWithTheDeadOnesNumberCleansUpAfterIt) {
    for (const char* order : {"fifo", "lifo"}) {
        const std::string address = "ring://" + unique_name() + "?blocks=2&block=100&wait=block&order=" + order;
        const auto ring = opened(address);
        for (unsigned step = 1; step < 9; ++step) {
            Child child([&] { return client(address, true, step); });
            bool killed = false;
            child.join(&killed);
            const auto heir = opened(address); // the lowest number free is the dead one's
            expect_a_working_ring(*ring, 2, 0, step);
        }
    }
}

TEST(RingDeathOf, ARingWhoseOpenersWereAllKilledIsMadeAnew) {
    const std::string name = unique_name();
    {
        Child child([&] {
            const auto ring = opened("ring://" + name + "?blocks=2");
            send(*ring, "lost with its ring");
            while (true) pause();
            return true;
        });
        Stopwatch watch;
        while (!exists(name) && watch.ms() < patience_ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(exists(name)) << "nobody was there to remove it";
    const auto ring = opened("ring://" + name + "?blocks=8");
    EXPECT_EQ(received(*ring, 0), "status 35");
    for (int i = 0; i < 8; ++i) EXPECT_EQ(send(*ring, "x", 0), IPC_OK);
}

TEST(RingDeathOf, AMakerKilledAtAnyMomentLeavesNothingHalfMade) {
    std::mt19937 random(11);
    for (int i = 0; i < 15; ++i) {
        const std::string address = "ring://" + unique_name() + "?blocks=64";
        {
            Child child([&] {
                while (true) opened(address).reset();
                return true;
            });
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
        }
        const auto ring = opened(address);
        ASSERT_TRUE(ring);
        EXPECT_EQ(send(*ring, "x"), IPC_OK);
    }
}

TEST_P(RingDeath, AtRandomMomentsTearsAndDoublesNothing) {
    const auto order = std::get<0>(GetParam());
    const auto writes = std::get<1>(GetParam());
    const std::string address = "ring://" + unique_name() + "?blocks=4&block=256&order=" + order;
    const auto ring = opened(address);
    std::mt19937 random(7);
    std::set<std::pair<uint32_t, uint64_t>> got;
    uint64_t sent = 0;
    for (uint32_t victim = 1; victim <= 25; ++victim) {
        Child child([&] {
            std::unique_ptr<MessageQueue> own;
            if (open_ring(address, &own) != IPC_OK) return false;
            std::vector<unsigned char> bytes(256);
            for (uint64_t n = 1;; ++n) {
                size_t length = 0;
                if (writes) fill(bytes, victim, n);
                const Status status = writes ? own->enqueue(bytes.data(), bytes.size(), Deadline(patience_ms))
                                             : own->dequeue(bytes.data(), bytes.size(), &length, Deadline(patience_ms));
                if (status != IPC_OK) return false;
            }
        });
        const Stopwatch watch;
        const int64_t life = 3 + static_cast<int64_t>(random() % 10);
        bool alive = true;
        unsigned after_death = 0;
        std::vector<unsigned char> bytes;
        unsigned char buffer[256];
        while (after_death < 12) {
            if (alive && watch.ms() >= life) {
                child.kill();
                alive = false;
            }
            ASSERT_LT(watch.ms(), patience_ms) << "the ring stopped";
            if (!writes || !alive) {
                fill(bytes, 0, sent + 1);
                const Status status = ring->enqueue(bytes.data(), bytes.size(), Deadline(alive ? 5 : 100));
                ASSERT_TRUE(status == IPC_OK || status == IPC_TIMED_OUT) << last_error();
                if (status == IPC_OK) {
                    ++sent;
                    if (!alive) ++after_death;
                }
            }
            if (writes || !alive) {
                size_t length = 0;
                const Status status = ring->dequeue(buffer, sizeof buffer, &length, Deadline(alive ? 5 : 0));
                if (status == IPC_TIMED_OUT) continue;
                ASSERT_EQ(status, IPC_OK) << last_error();
                uint32_t writer = 0;
                uint64_t number = 0;
                ASSERT_TRUE(is_whole(buffer, length, &writer, &number));
                ASSERT_TRUE(got.insert({writer, number}).second) << "doubled";
            }
        }
    }
}

} // namespace
} // namespace ipc::ring::test
