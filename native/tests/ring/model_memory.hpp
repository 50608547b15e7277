#pragma once

// A model of a ring's memory and of the threads that work on it, for the explorer: the steps a thread has taken give what they gave
// when they are taken again.

#include "transports/ring/layout.hpp"

#include <csetjmp>
#include <cstdint>
#include <string>
#include <utility>

namespace ipc::ring::test {

inline constexpr unsigned most_threads = 4;
inline constexpr unsigned most_modelled_blocks = 4;
inline constexpr unsigned longest_history = 32;

enum class Stage : uint8_t { attempt, set_parked, parked_attempt, look_at_dead, sleep, leave, done, dead };

struct Thread {
    Stage stage;
    uint8_t sent_or_got; // messages finished
    bool asleep;
    bool whole_slice;
    uint8_t steps; // in history
    uint64_t blocker;
    uint64_t history[longest_history];
};

struct World {
    uint64_t cursors[4];
    uint64_t heads[2];
    uint64_t parked[2];
    uint64_t state[most_modelled_blocks];
    uint64_t length[most_modelled_blocks];
    uint64_t next[most_modelled_blocks];
    uint64_t payload[most_modelled_blocks];
    Thread threads[most_threads];
    uint8_t delivered[most_threads][8];         // by writer and number: how often
    uint8_t latest[most_threads][most_threads]; // by reader and writer: 1 + number of the latest
};

struct Plan {
    bool lifo = false;
    unsigned writers = 2, readers = 2, blocks = 2;
    unsigned each_writes = 1;
    unsigned each_reads = 1;
    uint64_t first = 0;  // position of the first message
    bool deaths = false; // one thread may die anywhere
    bool parking =
        true; // else who is blocked goes on as soon as a block or head has changed, which makes for fewer orders
};

// The atomic steps of one thread: those it has taken before give what they gave, one more is taken on the world, and the one after
// that stops the run.
class ModelMemory {
  public:
    // The run stops by a jump to `stop`.
    ModelMemory(World& world, const Plan& plan, unsigned thread, std::jmp_buf& stop)
        : world_(world), plan_(plan), thread_(thread), stop_(stop) {}

    uint32_t count() const { return plan_.blocks; }
    uint32_t block_bytes() const { return 1000; }

    void begin_attempt(unsigned depth) {
        Thread& self = world_.threads[thread_];
        if (marks_[depth] < 0) {
            marks_[depth] = static_cast<int>(at_);
        } else {
            at_ = static_cast<unsigned>(marks_[depth]);
            self.steps = static_cast<uint8_t>(at_);
        }
        for (unsigned inner = depth + 1; inner < 2; ++inner) marks_[inner] = -1;
    }

    uint64_t load(Cursor cursor) { return get(world_.cursors[static_cast<unsigned>(cursor)]); }
    bool swap(Cursor cursor, uint64_t expected, uint64_t desired) {
        return exchange_if(world_.cursors[static_cast<unsigned>(cursor)], expected, desired);
    }
    uint64_t load(List list) { return get(world_.heads[static_cast<unsigned>(list)]); }
    bool swap(List list, uint64_t expected, uint64_t desired) {
        return exchange_if(world_.heads[static_cast<unsigned>(list)], expected, desired);
    }
    uint64_t load_state(uint32_t index) { return get(world_.state[index]); }
    bool swap_state(uint32_t index, uint64_t expected, uint64_t desired) {
        return exchange_if(world_.state[index], expected, desired);
    }
    uint32_t load_length(uint32_t index) { return static_cast<uint32_t>(get(world_.length[index])); }
    // Words of a claimed block go with the step that follows them: that nobody else touches the block meanwhile shows in the
    // payload, whose steps stand alone.
    void store_length(uint32_t index, uint32_t length) { set_with_next(world_.length[index], length); }
    uint32_t load_next(uint32_t index) { return static_cast<uint32_t>(get(world_.next[index])); }
    void store_next(uint32_t index, uint32_t next) { set_with_next(world_.next[index], next); }
    uint64_t load_payload(uint32_t index) { return get(world_.payload[index]); }
    void store_payload(uint32_t index, uint64_t value) { set(world_.payload[index], value); }

    void wake(Side side) {
        if (!plan_.parking) return;
        uint64_t& word = world_.parked[static_cast<unsigned>(side)];
        if (get(word) == 0 || exchange(word, 0) == 0) return;
        step([&] {
            const unsigned from = side == Side::writers ? 0 : plan_.writers;
            const unsigned to = side == Side::writers ? plan_.writers : plan_.writers + plan_.readers;
            for (unsigned t = from; t < to; ++t) {
                if (!world_.threads[t].asleep || world_.threads[t].stage == Stage::dead) continue;
                world_.threads[t].asleep = false;
                break;
            }
            return uint64_t{0};
        });
    }
    uint64_t exchange(uint64_t& word, uint64_t value) {
        return step([&] { return std::exchange(word, value); });
    }
    bool is_dead(uint32_t owner) {
        return step([&] { return uint64_t{world_.threads[owner - 1].stage == Stage::dead}; }) != 0;
    }
    // Sleeps if the word is still 1.
    void sleep(Side side) {
        step([&] {
            world_.threads[thread_].asleep = world_.parked[static_cast<unsigned>(side)] == 1;
            return uint64_t{0};
        });
    }

  private:
    template <class Action>
    uint64_t step(Action action) {
        Thread& self = world_.threads[thread_];
        if (at_ < self.steps) return self.history[at_++];
        if (taken_)
            std::longjmp(stop_,
                         1); // over frames that have nothing to destroy, millions of times: an exception takes longer
        taken_ = true;
        const uint64_t result = action();
        if (self.steps == longest_history) throw std::string("a stage takes more steps than the explorer keeps");
        self.history[self.steps++] = result;
        ++at_;
        return result;
    }
    uint64_t get(const uint64_t& word) {
        return step([&] { return word; });
    }
    void set(uint64_t& word, uint64_t value) {
        step([&] { return word = value; });
    }
    void set_with_next(uint64_t& word, uint64_t value) {
        if (at_ >= world_.threads[thread_].steps) word = value; // else that step is taken already
    }
    bool exchange_if(uint64_t& word, uint64_t expected, uint64_t desired) {
        return step([&] {
                   if (word != expected) return uint64_t{0};
                   word = desired;
                   if (!plan_.parking)
                       for (Thread& thread : world_.threads) thread.asleep = false;
                   return uint64_t{1};
               }) != 0;
    }

    World& world_;
    const Plan& plan_;
    unsigned thread_;
    std::jmp_buf& stop_;
    unsigned at_ = 0;
    bool taken_ = false;
    int marks_[2] = {-1, -1};
};

} // namespace ipc::ring::test
