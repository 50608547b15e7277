#pragma once

#include "transports/ring/layout.hpp"

namespace ipc::ring {

// The circular list of blocks with four cursors, oldest message first (docs/wire-formats.md "ring").
//
// A block's state word decides everything: the compare-and-swap that claims it also says whose it is, so there is no moment
// in which a killed process has a block that does not bear its name. The cursors only follow: whoever finds one behind
// the states moves it on, so a process killed between claiming and moving its cursor stops nobody. A cursor therefore
// tells where to look first, never what may be done.
//
// M provides the atomic steps, see Memory. Positions are 64 bits wide and wrap; a state word keeps 48 bits of its position.
template <class M>
class Fifo {
  public:
    explicit Fifo(M& memory) : memory_(memory), mask_(memory.count() - 1) {}

    // A writer's claim of the next free block. blocked: *blocker is the state of the block in the way.
    Claim claim_write(uint32_t owner, uint64_t* position, uint64_t* blocker) {
        for (uint32_t attempt = 0; attempt < attempts(); ++attempt) {
            memory_.begin_attempt(0);
            const uint64_t at = memory_.load(Cursor::write_end);
            const uint64_t state = memory_.load_state(index(at));
            if (state == state_word(at, 0, Phase::free)) [[likely]] {
                if (!memory_.swap_state(index(at), state, state_word(at, owner, Phase::writing))) continue;
                memory_.swap(Cursor::write_end, at, at + 1);
                *position = at;
                return Claim::taken;
            }
            const Lap lap = lap_of(state, at);
            const Phase phase = phase_of(state);
            const bool claimed_before = (lap == Lap::same && is_known(phase) && phase != Phase::free) ||
                                        (lap == Lap::next && phase == Phase::free);
            if (claimed_before) {
                memory_.swap(Cursor::write_end, at, at + 1);
            } else if (lap == Lap::previous && phase == Phase::skip) {
                pass_over(state); // a full ring need not wait for a reader to find out that there is nothing to read
            } else if (lap == Lap::previous && is_known(phase) && phase != Phase::free) {
                *blocker = state;
                return Claim::blocked;
            } else if (memory_.load(Cursor::write_end) == at) {
                return Claim::damaged; // not even a cursor read long ago explains this word
            }
        }
        return Claim::contended;
    }

    // The claimed block holds its message. False if somebody changed a word that was ours.
    bool finish_write(uint64_t position, uint32_t owner, uint32_t length) {
        memory_.store_length(index(position), length);
        if (!memory_.swap_state(index(position), state_word(position, owner, Phase::writing),
                                state_word(position, 0, Phase::full)))
            return false;
        memory_.wake(Side::readers);
        follow(Cursor::write_start, Cursor::write_end);
        return true;
    }

    // A reader's claim of the oldest message. taken and too_small: *length is its length; `capacity` is what there is room for.
    Claim claim_read(uint32_t owner, size_t capacity, uint64_t* position, uint32_t* length, uint64_t* blocker) {
        for (uint32_t attempt = 0; attempt < attempts(); ++attempt) {
            memory_.begin_attempt(0);
            const uint64_t at = memory_.load(Cursor::read_end);
            const uint64_t state = memory_.load_state(index(at));
            if (state == state_word(at, 0, Phase::full)) [[likely]] {
                // Read before the claim, because a message too long for the buffer must stay; valid if the word still stands.
                *length = memory_.load_length(index(at));
                if (*length > memory_.block_bytes()) {
                    if (memory_.load_state(index(at)) == state) return Claim::damaged;
                    continue;
                }
                if (*length > capacity) {
                    if (memory_.load_state(index(at)) == state) return Claim::too_small;
                    continue;
                }
                if (!memory_.swap_state(index(at), state, state_word(at, owner, Phase::reading))) continue;
                memory_.swap(Cursor::read_end, at, at + 1);
                *position = at;
                return Claim::taken;
            }
            const Lap lap = lap_of(state, at);
            const Phase phase = phase_of(state);
            if (state == state_word(at, 0, Phase::skip)) {
                pass_over(state);
            } else if ((lap == Lap::same && phase == Phase::reading) || lap == Lap::next) {
                memory_.swap(Cursor::read_end, at, at + 1);
            } else if (nothing_to_read(lap, phase)) {
                *blocker = state;
                return Claim::blocked;
            } else if (memory_.load(Cursor::read_end) == at) {
                return Claim::damaged;
            }
        }
        return Claim::contended;
    }

    // The claimed message has been copied out. False if somebody changed a word that was ours.
    bool finish_read(uint64_t position, uint32_t owner) {
        if (!memory_.swap_state(index(position), state_word(position, owner, Phase::reading),
                                state_word(position + memory_.count(), 0, Phase::free)))
            return false;
        memory_.wake(Side::writers);
        follow(Cursor::read_start, Cursor::read_end);
        return true;
    }

    // Finishes what a dead owner left in this state. True if this call did it.
    bool recover(uint64_t state) {
        const uint64_t turn = turn_of(state);
        if (phase_of(state) == Phase::writing) {
            // Never reported as sent: there is no message.
            if (!memory_.swap_state(index(turn), state, state_word(turn, 0, Phase::skip))) return false;
            memory_.wake(Side::readers);
            follow(Cursor::write_start, Cursor::write_end);
            return true;
        }
        // The message counts as delivered to the dead.
        return phase_of(state) == Phase::reading && pass_over(state);
    }

    // Whether an attempt to read (to write) is worth making, for whoever hands a wake-up on.
    bool worth_trying(Side side) {
        const uint64_t at = memory_.load(side == Side::readers ? Cursor::read_end : Cursor::write_end);
        const uint64_t state = memory_.load_state(index(at));
        const Lap lap = lap_of(state, at);
        const Phase phase = phase_of(state);
        if (side == Side::readers) return !nothing_to_read(lap, phase);
        return lap != Lap::previous || phase == Phase::skip;
    }

  private:
    enum class Lap { previous, same, next, other };

    uint32_t index(uint64_t position) const { return static_cast<uint32_t>(position) & mask_; }

    // More steps than any honest mixture of helping and losing takes; a hostile one only makes us look at the clock.
    uint32_t attempts() const { return 4 * memory_.count() + 64; }

    // Which lap of the ring the state belongs to, seen from `position`.
    Lap lap_of(uint64_t state, uint64_t position) const {
        const uint64_t ahead = (turn_of(state) - position) & turn_mask;
        if (ahead == 0) return Lap::same;
        if (ahead == memory_.count()) return Lap::next;
        return ahead == ((0 - uint64_t{memory_.count()}) & turn_mask) ? Lap::previous : Lap::other;
    }

    // The block at the readers' end is still to be written, or its reader of the lap before has not finished.
    static bool nothing_to_read(Lap lap, Phase phase) {
        return (lap == Lap::same && (phase == Phase::free || phase == Phase::writing)) ||
               (lap == Lap::previous && phase == Phase::reading);
    }

    // Gives a block back that holds no message any more.
    bool pass_over(uint64_t state) {
        const uint64_t turn = turn_of(state);
        if (!memory_.swap_state(index(turn), state, state_word(turn + memory_.count(), 0, Phase::free))) return false;
        memory_.wake(Side::writers);
        follow(Cursor::read_start, Cursor::read_end);
        return true;
    }

    // Moves a start past every block that is done. Any of those who finish may be the one that finds the first done; because
    // it marks its own block before it looks, no done block is overlooked by all.
    void follow(Cursor start, Cursor end) {
        for (uint32_t moved = 0; moved <= memory_.count(); ++moved) {
            memory_.begin_attempt(1);
            const uint64_t at = memory_.load(start);
            if (at == memory_.load(end)) return;
            const uint64_t state = memory_.load_state(index(at));
            const Lap lap = lap_of(state, at);
            const Phase phase = phase_of(state);
            const bool done = lap == Lap::next || (start == Cursor::write_start && lap == Lap::same &&
                                                   phase != Phase::free && phase != Phase::writing);
            if (!done) return;
            memory_.swap(start, at, at + 1);
        }
    }

    M& memory_;
    const uint32_t mask_;
};

} // namespace ipc::ring
