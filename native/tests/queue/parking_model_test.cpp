// A model of parking of many (shared_memory/parking.hpp): every interleaving of a few waiters and wakers, step by step. Nobody
// may be left asleep with something to take, without counting on the slices of a sleep.
#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <utility>

namespace ipc {
namespace {

// What a waker does: as we do; or clears the bit after waking, whoever fell asleep in between.
enum class Clear { before_waking, after_waking };
// Whether the waiter looks once more after it announced itself.
enum class Look { again, not_again };

struct Model {
    Model(int waiter_count, int waker_count, bool all, Clear clearing = Clear::before_waking,
          Look looking = Look::again)
        : waiters(waiter_count), wakers(waker_count), wake_all(all), clear(clearing), look(looking) {}

    int waiters;
    int wakers;
    bool wake_all;
    Clear clear;
    Look look;

    enum Waiter : uint8_t { check, load, announce, check_again, sleep, asleep, woken, take_item, has_it };
    enum Waker : uint8_t { publish, see, wake_one, clear_bit, wake_rest, done };

    struct State {
        uint8_t word = 0, items = 0;
        std::array<uint8_t, 3> waiter{}, waker{};           // where each is
        std::array<uint8_t, 3> waiter_word{}, waker_word{}; // what each has loaded or announced
        auto operator<=>(const State&) const = default;
    };

    std::set<State> seen;
    bool lost = false;

    static void sort_together(std::array<uint8_t, 3>& where, std::array<uint8_t, 3>& word) {
        std::array<std::pair<uint8_t, uint8_t>, 3> both;
        for (size_t i = 0; i < 3; ++i) both[i] = {where[i], word[i]};
        std::sort(both.begin(), both.end());
        for (size_t i = 0; i < 3; ++i) std::tie(where[i], word[i]) = both[i];
    }

    // States that differ in nothing that matters are one: only how far behind the word a remembered one is, up to "far", and
    // nothing of those who do not remember.
    State normal(State state) const {
        const uint8_t base = state.word & 0xFE;
        const auto relative = [base](uint8_t remembered) {
            constexpr uint8_t far = 8;
            const uint8_t behind = static_cast<uint8_t>(base - (remembered & 0xFE));
            return static_cast<uint8_t>(0 - (behind > far ? far : behind) + (remembered & 1));
        };
        for (size_t i = 0; i < 3; ++i) {
            const uint8_t waits = state.waiter[i], wakes = state.waker[i];
            const bool waiter_remembers = waits == announce || waits == check_again || waits == sleep;
            state.waiter_word[i] = waiter_remembers ? relative(state.waiter_word[i]) : uint8_t{0};
            const bool waker_remembers = wakes == wake_one || wakes == clear_bit;
            state.waker_word[i] = waker_remembers ? relative(state.waker_word[i]) : uint8_t{0};
        }
        state.word &= 1;
        // Nor does it matter which of them is where.
        sort_together(state.waiter, state.waiter_word);
        sort_together(state.waker, state.waker_word);
        return state;
    }

    // Every interleaving from the beginning; true if one of them leaves a sleeper beside what it waits for.
    bool loses() {
        State start;
        for (int i = waiters; i < 3; ++i) start.waiter[static_cast<size_t>(i)] = has_it;
        for (int i = wakers; i < 3; ++i) start.waker[static_cast<size_t>(i)] = done;
        explore(start);
        return lost;
    }

    void explore(const State& reached) {
        const State state = normal(reached);
        if (lost || !seen.insert(state).second) return;
        bool moved = false, sleeper = false;
        for (int i = 0; i < 3; ++i) moved |= step_waiter(state, static_cast<size_t>(i), &sleeper);
        for (int i = 0; i < 3; ++i) moved |= step_waker(state, static_cast<size_t>(i));
        // Nobody can do anything any more, and somebody sleeps beside what it waits for.
        if (!moved && sleeper && state.items > 0) lost = true;
    }

    bool step_waiter(const State& state, size_t i, bool* sleeper) {
        State next = state;
        uint8_t& at = next.waiter[i];
        switch (at) {
        case check:
            at = state.items > 0 ? take_item : load;
            break;
        case load:
            next.waiter_word[i] = state.word;
            at = announce;
            break;
        case announce: // compare-and-swap; when it fails it has loaded anew
            if (state.word == state.waiter_word[i]) {
                next.waiter_word[i] = next.word = static_cast<uint8_t>((state.word + 2) | 1);
                at = look == Look::again ? check_again : sleep;
            } else {
                next.waiter_word[i] = state.word;
            }
            break;
        case check_again:
            at = state.items > 0 ? take_item : sleep;
            break;
        case sleep:
            at = state.word == state.waiter_word[i] ? asleep : woken;
            break; // one step, as the kernel does it
        case woken:
            at = state.items > 0 ? take_item : load;
            break;
        case take_item: // under the lock, where another may have been faster
            if (state.items > 0) {
                --next.items;
                at = has_it;
            } else {
                at = check;
            }
            break;
        case asleep:
            *sleeper = true;
            return false;
        default:
            return false;
        }
        explore(next);
        return true;
    }

    bool step_waker(const State& state, size_t i) {
        State next = state;
        uint8_t& at = next.waker[i];
        switch (at) {
        case publish:
            ++next.items;
            at = see;
            break;
        case see:
            next.waker_word[i] = state.word;
            at = (state.word & 1) == 0 ? done : wake_all ? clear_bit : wake_one;
            break;
        case wake_one:
            return step_wake_one(state, i);
        case clear_bit: {
            if (state.word == state.waker_word[i]) next.word = state.word & 0xFE;
            at = clear == Clear::before_waking ? wake_rest : done;
            break;
        }
        case wake_rest:
            for (int w = 0; w < 3; ++w)
                if (uint8_t& waits = next.waiter[static_cast<size_t>(w)]; waits == asleep) waits = woken;
            at = done;
            break;
        default:
            return false;
        }
        explore(next);
        return true;
    }

    bool step_wake_one(const State& state, size_t i) {
        bool anybody = false;
        for (int w = 0; w < 3; ++w) {
            const size_t sleeper = static_cast<size_t>(w);
            if (state.waiter[sleeper] != asleep) continue;
            anybody = true;
            State next = state; // the kernel may choose any
            next.waiter[sleeper] = woken;
            next.waker[i] = done;
            explore(next);
        }
        if (anybody) return true;
        State next = state;
        next.waker[i] = clear_bit;
        explore(next);
        return true;
    }
};

TEST(ParkingModel, NobodyIsLeftAsleepWithSomethingToTake) {
    for (const bool wake_all : {false, true})
        for (const auto& [waiters, wakers] :
             {std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 2}, std::pair{2, 3}, std::pair{3, 3}}) {
            Model model(waiters, wakers, wake_all);
            EXPECT_FALSE(model.loses()) << waiters << " waiters, " << wakers << " wakers, wake all: " << wake_all;
            EXPECT_GT(model.seen.size(), 10u);
        }
}

// The model finds what would be wrong.
TEST(ParkingModel, FindsTheFaultsThatTheDesignAvoids) {
    for (const bool wake_all : {false, true}) {
        Model no_second_look(1, 1, wake_all, Clear::before_waking, Look::not_again);
        EXPECT_TRUE(no_second_look.loses());
    }
    Model late(1, 1, false, Clear::after_waking);
    EXPECT_TRUE(late.loses());
}

} // namespace
} // namespace ipc
