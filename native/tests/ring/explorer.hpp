#pragma once

// Tries every order in which the atomic steps of some writers and readers can happen, the real code of fifo.hpp and lifo.hpp over
// a model of the memory, and optionally the death of one of them between any two steps.
//
// A thread's stage is a function of what its steps have returned; so a thread is kept as the list of those results, and moved on
// by running the stage again with them up to the first step that is new. States seen before are not entered again.

#include "model_memory.hpp"
#include "transports/ring/fifo.hpp"
#include "transports/ring/lifo.hpp"

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ipc::ring::test {

class Explorer {
  public:
    explicit Explorer(const Plan& plan) : plan_(plan), threads_(plan.writers + plan.readers) {}

    // Tries everything. "" if nothing was wrong, else what was.
    std::string run() {
        std::vector<World> open{first_world()};
        seen_.insert(digest(open.back()));
        try {
            while (!open.empty()) {
                const World world = open.back();
                open.pop_back();
                ++states_;
                if (states_ > most_states) return "there are more states than the test is made for";
                bool any = false;
                for (unsigned t = 0; t < threads_; ++t) {
                    if (!can_move(world, t)) continue;
                    any = true;
                    World after = world;
                    move(after, t);
                    enter(open, after);
                    if (plan_.deaths && !somebody_died(world)) {
                        World killed = world;
                        kill(killed, t);
                        enter(open, killed);
                    }
                }
                if (!any) come_to_rest(open, world);
            }
        } catch (const std::string& what) {
            return what;
        }
        return {};
    }
    uint64_t states() const { return states_; }
    uint64_t rests() const { return rests_; }

  private:
    static constexpr uint64_t most_states = 30'000'000;
    using Digest = std::pair<uint64_t, uint64_t>;
    struct Hash {
        size_t operator()(const Digest& d) const { return static_cast<size_t>(d.first); }
    };

    bool is_writer(unsigned t) const { return t < plan_.writers; }
    Side side_of(unsigned t) const { return is_writer(t) ? Side::writers : Side::readers; }
    unsigned target(unsigned t) const { return is_writer(t) ? plan_.each_writes : plan_.each_reads; }
    static bool somebody_died(const World& w) {
        for (const Thread& t : w.threads)
            if (t.stage == Stage::dead) return true;
        return false;
    }
    bool can_move(const World& w, unsigned t) const {
        const Thread& self = w.threads[t];
        return self.stage != Stage::done && self.stage != Stage::dead && !self.asleep;
    }

    World first_world() const {
        World w;
        std::memset(&w, 0, sizeof w);
        for (uint64_t& cursor : w.cursors) cursor = plan_.first;
        for (uint64_t turn = plan_.first; turn != plan_.first + plan_.blocks; ++turn) {
            const auto index = static_cast<uint32_t>(turn & (plan_.blocks - 1));
            w.state[index] = state_word(turn, 0, Phase::free);
            w.next[index] = index + 1 < plan_.blocks ? index + 2 : 0;
        }
        w.heads[0] = head_word(plan_.first, 1, 0, ListStep::none);
        w.heads[1] = head_word(plan_.first, 0, 0, ListStep::none);
        for (unsigned t = threads_; t < most_threads; ++t) w.threads[t].stage = Stage::done;
        return w;
    }

    void kill(World& w, unsigned t) const {
        w.threads[t].stage = Stage::dead;
        w.threads[t].asleep = false;
        forget(w.threads[t]);
    }
    static void forget(Thread& self) {
        self.steps = 0;
        std::memset(self.history, 0, sizeof self.history);
    }
    static void go(Thread& self, Stage stage) {
        self.stage = stage;
        forget(self);
    }

    // Takes one step of a thread, and with it everything up to its next step.
    void move(World& w, unsigned t) {
        std::jmp_buf stop;
        if (setjmp(stop) == 0)
            run_stage(w, t, stop);
        else
            std::memset(w.threads[t].history + w.threads[t].steps, 0,
                        sizeof(uint64_t) * (longest_history - w.threads[t].steps));
        check(w);
    }

    // The stages are those of RingQueue: an attempt; then parking: set the word, attempt, look at the dead after a whole slice,
    // sleep; and on leaving set the word, look, and hand the wake-up on.
    void run_stage(World& w, unsigned t, std::jmp_buf& stop) {
        ModelMemory memory(w, plan_, t, stop);
        Thread& self = w.threads[t];
        switch (self.stage) {
        case Stage::attempt:
        case Stage::parked_attempt: {
            uint64_t blocker = 0;
            if (attempt(w, memory, t, &blocker)) {
                ++self.sent_or_got;
                self.blocker = 0;
                if (self.stage == Stage::parked_attempt)
                    go(self, Stage::leave);
                else
                    finish_call(self, t);
            } else if (self.stage == Stage::attempt && plan_.parking) {
                go(self, Stage::set_parked);
            } else {
                self.blocker = blocker;
                if (self.whole_slice)
                    go(self, Stage::look_at_dead);
                else
                    rest(self);
            }
            break;
        }
        case Stage::set_parked:
            memory.exchange(w.parked[static_cast<unsigned>(side_of(t))], 1);
            go(self, Stage::parked_attempt);
            break;
        case Stage::look_at_dead: {
            const bool reclaimed = reclaim(memory, t, self.blocker);
            self.whole_slice = false;
            if (!reclaimed)
                rest(self);
            else
                go(self, plan_.parking ? Stage::set_parked : Stage::attempt);
            break;
        }
        case Stage::sleep:
            memory.sleep(side_of(t));
            go(self, Stage::set_parked);
            break;
        case Stage::leave:
            memory.exchange(w.parked[static_cast<unsigned>(side_of(t))], 1);
            if (plan_.lifo ? Lifo<ModelMemory>(memory).worth_trying(side_of(t))
                           : Fifo<ModelMemory>(memory).worth_trying(side_of(t)))
                memory.wake(side_of(t));
            finish_call(self, t);
            break;
        case Stage::done:
        case Stage::dead:
            break;
        }
    }
    void rest(Thread& self) const {
        go(self, plan_.parking ? Stage::sleep : Stage::attempt);
        if (!plan_.parking) self.asleep = true;
    }
    void finish_call(Thread& self, unsigned t) const {
        go(self, self.sent_or_got == target(t) ? Stage::done : Stage::attempt);
    }

    // One attempt of a writer or reader; false if it is blocked.
    bool attempt(World& w, ModelMemory& memory, unsigned t, uint64_t* blocker) {
        const uint32_t owner = t + 1;
        Fifo<ModelMemory> fifo(memory);
        Lifo<ModelMemory> lifo(memory);
        uint64_t position = 0;
        uint32_t index = 0, length = 0;
        Claim claim;
        if (is_writer(t))
            claim = plan_.lifo ? lifo.claim_write(owner, &index) : fifo.claim_write(owner, &position, blocker);
        else
            claim = plan_.lifo ? lifo.claim_read(owner, 100, &index, &length)
                               : fifo.claim_read(owner, 100, &position, &length, blocker);
        if (claim == Claim::blocked) return false;
        if (claim != Claim::taken) throw std::string("a claim ended with damage or contention");
        if (!plan_.lifo) index = static_cast<uint32_t>(position & (plan_.blocks - 1));
        bool sound;
        if (is_writer(t)) {
            const unsigned number = w.threads[t].sent_or_got;
            memory.store_payload(index, 1 + t * 8 + number);
            sound = plan_.lifo ? lifo.finish_write(index, owner, 10 + t) : fifo.finish_write(position, owner, 10 + t);
        } else {
            const uint64_t message = memory.load_payload(index);
            sound = plan_.lifo ? lifo.finish_read(index, owner) : fifo.finish_read(position, owner);
            if (sound) deliver(w, t, message, length);
        }
        if (!sound) throw std::string("a block changed while it was claimed");
        return true;
    }

    void deliver(World& w, unsigned reader, uint64_t message, uint32_t length) const {
        if (message == 0) throw std::string("a message was delivered that nobody wrote");
        const auto writer = static_cast<unsigned>(message - 1) / 8, number = static_cast<unsigned>(message - 1) % 8;
        if (length != 10 + writer) throw std::string("a message was delivered with another's length");
        if (w.delivered[writer][number]++ != 0) throw std::string("a message was delivered twice");
        uint8_t& latest = w.latest[reader][writer];
        if (!plan_.lifo && latest > number) throw std::string("a reader got a writer's messages out of order");
        latest = static_cast<uint8_t>(number + 1);
    }

    bool reclaim(ModelMemory& memory, unsigned t, uint64_t blocker) const {
        if (!plan_.lifo)
            return is_claimed(blocker) && memory.is_dead(owner_of(blocker)) &&
                   Fifo<ModelMemory>(memory).recover(blocker);
        if (!is_writer(t)) return false;
        bool any = false;
        for (uint32_t index = 0; index < plan_.blocks; ++index) {
            const uint64_t state = memory.load_state(index);
            if (is_claimed(state) && memory.is_dead(owner_of(state)) &&
                Lifo<ModelMemory>(memory).recover(index, state, t + 1))
                any = true;
        }
        return any;
    }

    // What holds between any two steps.
    void check(const World& w) const {
        if (plan_.lifo) return;
        const auto behind = [&](Cursor a, Cursor b) {
            return w.cursors[static_cast<unsigned>(b)] - w.cursors[static_cast<unsigned>(a)];
        };
        if (behind(Cursor::read_start, Cursor::read_end) > 2 * plan_.blocks + 2 ||
            behind(Cursor::write_start, Cursor::write_end) > 2 * plan_.blocks + 2)
            throw std::string("a start cursor has overtaken its end");
        if (!somebody_died(w) && behind(Cursor::read_end, Cursor::write_end) > plan_.blocks)
            throw std::string("readers are ahead of writers, or writers a whole ring ahead of readers");
    }

    // Nobody can move. Without a death that must be the end, or sleepers who rightly sleep; after one, a slice of 50 ms passes
    // for the sleepers, who must then get on as if the dead had never been.
    void come_to_rest(std::vector<World>& open, const World& world) {
        ++rests_;
        if (is_settled(world)) return;
        if (!somebody_died(world)) throw std::string("somebody sleeps who could go on: a wake-up was lost");
        if (stays_stuck(world)) throw std::string("after a death nobody gets on");
        for (unsigned t = 0; t < threads_; ++t) {
            if (!world.threads[t].asleep) continue;
            World after = world;
            after.threads[t].asleep = false;
            after.threads[t].whole_slice = true;
            enter(open, after);
        }
    }

    // Readers wait only when no block holds a message, writers only when all do; and every message written has arrived, or lies in a
    // block, or went to a dead reader.
    bool is_settled(const World& w) const {
        unsigned written = 0, arrived = 0, full = 0, dead_readers = 0;
        bool writer_waits = false, reader_waits = false;
        for (unsigned i = 0; i < plan_.blocks; ++i) full += phase_of(w.state[i]) == Phase::full;
        for (unsigned t = 0; t < threads_; ++t) {
            const Thread& self = w.threads[t];
            if (self.stage == Stage::dead && !is_writer(t)) ++dead_readers;
            if (self.asleep) (is_writer(t) ? writer_waits : reader_waits) = true;
            if (!is_writer(t)) continue;
            written += self.sent_or_got;
            for (unsigned n = 0; n < 8; ++n) arrived += w.delivered[t][n];
        }
        if (arrived + full + dead_readers < written) throw std::string("a message was lost");
        return !(reader_waits && full != 0) && !(writer_waits && full != plan_.blocks);
    }

    // Lets one sleeper after the other have its slice and run to its end, some rounds long.
    bool stays_stuck(World w) {
        for (unsigned round = 0; round < 4; ++round)
            for (unsigned t = 0; t < threads_; ++t) {
                if (w.threads[t].asleep) {
                    w.threads[t].asleep = false;
                    w.threads[t].whole_slice = true;
                }
                while (can_move(w, t)) move(w, t);
            }
        return !is_settled(w);
    }

    void enter(std::vector<World>& open, const World& w) {
        if (seen_.insert(digest(w)).second) open.push_back(w);
    }

    static Digest digest(const World& w) {
        // Field by field where there is padding.
        uint64_t a = 0x9E3779B97F4A7C15u, b = 0xC2B2AE3D27D4EB4Fu;
        const auto mix = [&](uint64_t value) {
            a = (a ^ value) * 0xFF51AFD7ED558CCDu;
            a ^= a >> 32;
            b = (b + value) * 0xC4CEB9FE1A85EC53u;
            b ^= b >> 29;
        };
        for (uint64_t v : w.cursors) mix(v);
        for (uint64_t v : w.heads) mix(v);
        for (uint64_t v : w.parked) mix(v);
        for (unsigned i = 0; i < most_modelled_blocks; ++i) {
            mix(w.state[i]);
            mix(w.length[i] << 32 | w.next[i] << 16 | w.payload[i]);
        }
        for (const Thread& t : w.threads) {
            mix(static_cast<uint64_t>(t.stage) | uint64_t{t.sent_or_got} << 8 | uint64_t{t.asleep} << 17 |
                uint64_t{t.whole_slice} << 18 | uint64_t{t.steps} << 24);
            mix(t.blocker);
            for (unsigned i = 0; i < t.steps; ++i) mix(t.history[i]);
        }
        uint64_t packed = 0;
        for (const auto& row : w.delivered)
            for (uint8_t v : row) packed = packed * 3 + v;
        mix(packed);
        packed = 0;
        for (const auto& row : w.latest)
            for (uint8_t v : row) packed = packed * 9 + v;
        mix(packed);
        return {a, b};
    }

    const Plan plan_;
    const unsigned threads_;
    std::unordered_set<Digest, Hash> seen_;
    uint64_t states_ = 0;
    uint64_t rests_ = 0;
};

} // namespace ipc::ring::test
