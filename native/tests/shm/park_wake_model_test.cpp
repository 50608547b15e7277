// Every interleaving of the handshake between a side that goes to sleep and a side that publishes (Segment::wait against
// Segment::wake_if_parked), with each side's stores held back in a store buffer as long as the processor may hold them (TSO: x86;
// what is shown to be needed there is needed everywhere). The futex's slices, which would cover up a lost wake-up after 50 ms,
// are left out: here a lost one is a sleep without end.
#include <array>
#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <vector>

namespace {

// What of the handshake is left out, to see that the search would notice.
struct Flaw {
    bool no_fence_after_publishing = false;
    bool plain_store_of_parked = false;
    bool no_look_after_parking = false;
};

enum Word { published, parked, words };

struct State {
    std::array<int, words> memory{};
    // The sender publishes `messages` times; each time: store, fence, look at parked, take it back and wake.
    int sender_step = 0, sent = 0;
    std::vector<std::pair<Word, int>> sender_buffer;
    // The sleeper waits for each message in turn: parks, looks, sleeps, wakes.
    int sleeper_step = 0, received = 0;
    std::vector<std::pair<Word, int>> sleeper_buffer;
    bool asleep = false;

    auto key() const {
        return std::tie(memory, sender_step, sent, sender_buffer, sleeper_step, received, sleeper_buffer, asleep);
    }
    bool operator<(const State& other) const { return key() < other.key(); }
};

int load(const State& state, const std::vector<std::pair<Word, int>>& buffer, Word word) {
    for (auto store = buffer.rbegin(); store != buffer.rend(); ++store)
        if (store->first == word) return store->second;
    return state.memory[word];
}

// The oldest store of a buffer becomes visible.
bool drain_one(State& state, std::vector<std::pair<Word, int>>& buffer) {
    if (buffer.empty()) return false;
    state.memory[buffer.front().first] = buffer.front().second;
    buffer.erase(buffer.begin());
    return true;
}

constexpr int messages = 2;

// One step of the sender; false if it cannot take one. RingWriter::publish_in_slots, Segment::wake_if_parked, Segment::wake.
bool sender(State& state, const Flaw& flaw) {
    switch (state.sender_step) {
    case 0: // publish
        if (state.sent == messages) return false;
        state.sender_buffer.emplace_back(published, ++state.sent);
        state.sender_step = 1;
        return true;
    case 1: // fence
        if (!flaw.no_fence_after_publishing && !state.sender_buffer.empty()) return false;
        state.sender_step = 2;
        return true;
    case 2: // look
        state.sender_step = load(state, state.sender_buffer, parked) != 0 ? 3 : 0;
        return true;
    case 3: { // exchange(parked, 0): a locked instruction waits for the buffer
        if (!state.sender_buffer.empty()) return false;
        const int was = state.memory[parked];
        state.memory[parked] = 0;
        state.sender_step = was != 0 ? 4 : 0;
        return true;
    }
    default: // FUTEX_WAKE
        state.asleep = false;
        state.sender_step = 0;
        return true;
    }
}

// One step of the sleeper. Segment::wait after its spinning: its park.
bool sleeper(State& state, const Flaw& flaw) {
    if (state.asleep) return false;
    auto arrived = [&] { return load(state, state.sleeper_buffer, published) > state.received; };
    switch (state.sleeper_step) {
    case 0: // parked.exchange(1)
        if (state.received == messages) return false;
        if (flaw.plain_store_of_parked) {
            state.sleeper_buffer.emplace_back(parked, 1);
        } else {
            if (!state.sleeper_buffer.empty()) return false;
            state.memory[parked] = 1;
        }
        state.sleeper_step = flaw.no_look_after_parking ? 2 : 1;
        return true;
    case 1: // look once more
        if (arrived()) {
            state.sleeper_buffer.emplace_back(parked, 0);
            ++state.received;
            state.sleeper_step = 0;
        } else {
            state.sleeper_step = 2;
        }
        return true;
    case 2: // FUTEX_WAIT(parked, 1): the kernel compares and sleeps in one step; entering it drains the buffer
        if (!state.sleeper_buffer.empty()) return false;
        state.asleep = state.memory[parked] == 1;
        state.sleeper_step = 3;
        return true;
    default: // awake: parked = 0, look
        state.sleeper_buffer.emplace_back(parked, 0);
        if (arrived()) ++state.received;
        state.sleeper_step = 0;
        return true;
    }
}

struct Outcome {
    size_t states = 0;
    size_t lost = 0; // states in which nobody can go on, and a message that was sent has not been received
};

Outcome explore(const Flaw& flaw) {
    std::set<State> seen{State{}};
    std::deque<State> open{State{}};
    Outcome outcome;
    while (!open.empty()) {
        const State state = open.front();
        open.pop_front();
        bool moved = false;
        auto follow = [&](auto step) {
            State next = state;
            if (!step(next)) return;
            moved = true;
            if (seen.insert(next).second) open.push_back(next);
        };
        follow([&](State& s) { return sender(s, flaw); });
        follow([&](State& s) { return sleeper(s, flaw); });
        follow([](State& s) { return drain_one(s, s.sender_buffer); });
        follow([](State& s) { return drain_one(s, s.sleeper_buffer); });
        if (!moved && state.received != messages) ++outcome.lost;
    }
    outcome.states = seen.size();
    return outcome;
}

} // namespace

TEST(ParkWakeModel, NoInterleavingLosesAWakeUp) {
    const Outcome outcome = explore({});
    EXPECT_EQ(0u, outcome.lost);
    EXPECT_GT(outcome.states, 100u) << "the search ended early";
}

TEST(ParkWakeModel, TheSearchFindsAMissingFence) {
    EXPECT_GT(explore({.no_fence_after_publishing = true}).lost, 0u);
}

TEST(ParkWakeModel, TheSearchFindsAParkedWordThatIsOnlyStored) {
    EXPECT_GT(explore({.plain_store_of_parked = true}).lost, 0u);
}

TEST(ParkWakeModel, TheSearchFindsAMissingLastLook) {
    EXPECT_GT(explore({.no_look_after_parking = true}).lost, 0u);
}
