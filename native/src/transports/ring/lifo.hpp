#pragma once

#include "transports/ring/layout.hpp"

namespace ipc::ring {

// What is under way at a list's head; whoever meets it completes it before doing anything else.
enum class ListStep : unsigned { none = 0, pop = 1, push = 2 };

// A list's head: tag (33 bits, one more with every change) | 1 + index of the first block, 0 for none (17 bits) | who is
// popping it (12 bits) | step (2 bits). The tag keeps a late compare-and-swap out.
constexpr uint64_t head_word(uint64_t tag, uint32_t first, uint32_t owner, ListStep step) {
    return (tag << 31) | (uint64_t{first} << 14) | (uint64_t{owner} << 2) | static_cast<uint64_t>(step);
}
constexpr uint64_t tag_of(uint64_t head) {
    return head >> 31;
}
constexpr uint32_t first_of(uint64_t head) {
    return static_cast<uint32_t>(head >> 14) & 0x1FFFF;
}
constexpr uint32_t popper_of(uint64_t head) {
    return static_cast<uint32_t>(head >> 2) & most_owners;
}
constexpr ListStep step_of(uint64_t head) {
    return static_cast<ListStep>(head & 3);
}

// Two single linked lists, of free and of full blocks, newest message first (docs/wire-formats.md "ring").
//
// A block is either in a list or has an owner in its state word. Moving it between the two changes two words, the list's
// head and the state; so a move is first announced in the head (with the owner, by one compare-and-swap) and then completed
// by whoever comes by, in steps that take effect once. A process killed in between has either announced nothing or
// everything there is to complete.
template <class M>
class Lifo {
  public:
    explicit Lifo(M& memory) : memory_(memory) {}

    Claim claim_write(uint32_t owner, uint32_t* index) {
        uint32_t none = 0;
        return pop(List::free, owner, SIZE_MAX, index, &none);
    }
    // taken and too_small: *length is the message's length; `capacity` is what there is room for.
    Claim claim_read(uint32_t owner, size_t capacity, uint32_t* index, uint32_t* length) {
        return pop(List::full, owner, capacity, index, length);
    }
    bool finish_write(uint32_t index, uint32_t owner, uint32_t length) {
        memory_.store_length(index, length);
        if (!push(List::full, index, owner)) return false;
        memory_.wake(Side::readers);
        return true;
    }
    bool finish_read(uint32_t index, uint32_t owner) {
        if (!push(List::free, index, owner)) return false;
        memory_.wake(Side::writers);
        return true;
    }

    // Completes what is under way at both heads, perhaps announced by the dead: afterwards the states tell what came of it.
    // False for damage.
    bool settle() {
        for (const List list : {List::free, List::full}) {
            const uint64_t head = memory_.load(list);
            if (step_of(head) != ListStep::none && !complete(list, head)) return false;
        }
        return true;
    }

    // Takes over and frees the block that a dead owner left in this state. True if this call did it. `me` lives and owns nothing
    // else by this state.
    bool recover(uint32_t index, uint64_t state, uint32_t me) {
        if (!settle()) return false;
        // Ours by one step, so that our own death now is like any other.
        if (!memory_.swap_state(index, state, state_word(turn_of(state) + 1, me, Phase::writing))) return false;
        return finish_read(index, me);
    }

    bool worth_trying(Side side) {
        return first_of(memory_.load(side == Side::readers ? List::full : List::free)) != 0;
    }

  private:
    uint32_t attempts() const { return 4 * memory_.count() + 64; }

    static Phase resting(List list) { return list == List::free ? Phase::free : Phase::full; }
    static Phase claimed(List list) { return list == List::free ? Phase::writing : Phase::reading; }

    Claim pop(List list, uint32_t owner, size_t capacity, uint32_t* index, uint32_t* length) {
        for (uint32_t attempt = 0; attempt < attempts(); ++attempt) {
            memory_.begin_attempt(0);
            const uint64_t head = memory_.load(list);
            if (step_of(head) != ListStep::none) {
                if (!complete(list, head)) return Claim::damaged;
                continue;
            }
            const uint32_t first = first_of(head);
            if (first == 0) return Claim::blocked;
            if (first > memory_.count()) return Claim::damaged;
            if (list == List::full) {
                // Valid if the head still stands: until then the block is in the list.
                *length = memory_.load_length(first - 1);
                if (*length > memory_.block_bytes() || *length > capacity) {
                    if (memory_.load(list) != head) continue;
                    return *length > memory_.block_bytes() ? Claim::damaged : Claim::too_small;
                }
            }
            const uint64_t announced = head_word(tag_of(head) + 1, first, owner, ListStep::pop);
            if (!memory_.swap(list, head, announced)) continue;
            if (!complete(list, announced)) return Claim::damaged;
            *index = first - 1;
            return Claim::taken;
        }
        return Claim::contended;
    }

    // Puts a block that `owner` has into the list. False for damage.
    bool push(List list, uint32_t index, uint32_t owner) {
        if (owner_of(memory_.load_state(index)) != owner) return false;
        while (true) {
            memory_.begin_attempt(1);
            const uint64_t head = memory_.load(list);
            if (step_of(head) != ListStep::none) {
                if (!complete(list, head)) return false;
                continue;
            }
            memory_.store_next(index, first_of(head));
            const uint64_t announced = head_word(tag_of(head) + 1, index + 1, 0, ListStep::push);
            if (memory_.swap(list, head, announced)) return complete(list, announced);
        }
    }

    // Completes the step that `head` announces; many may do so at once. False for damage.
    bool complete(List list, uint64_t head) {
        const uint32_t first = first_of(head);
        if (first == 0 || first > memory_.count() || step_of(head) > ListStep::push) return memory_.load(list) != head;
        const uint32_t index = first - 1;
        const uint64_t state = memory_.load_state(index);
        // Unless the head has moved on, the state was read while the step was under way; its turn keeps us from changing a later one.
        if (memory_.load(list) != head) return true;
        const Phase phase = phase_of(state);
        const bool popping = step_of(head) == ListStep::pop;
        const bool before = popping ? phase == resting(list) : is_claimed(state);
        const bool after =
            popping ? phase == claimed(list) && owner_of(state) == popper_of(head) : phase == resting(list);
        if (before) {
            const uint64_t turn = turn_of(state) + 1;
            memory_.swap_state(index, state,
                               popping ? state_word(turn, popper_of(head), claimed(list))
                                       : state_word(turn, 0, resting(list)));
        } else if (!after) {
            return false;
        }
        const uint32_t stays = popping ? memory_.load_next(index) : first;
        if (stays > memory_.count()) return memory_.load(list) != head;
        memory_.swap(list, head, head_word(tag_of(head) + 1, stays, 0, ListStep::none));
        return true;
    }

    M& memory_;
};

} // namespace ipc::ring
