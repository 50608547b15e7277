#pragma once

#include "core/status.hpp"
#include "shared_memory/waiting.hpp"

// The one waiting loop of everything that shares memory.
namespace ipc::shared_memory {

// Waits until ready() as the policy says.
//   budget: how long an adaptive waiter spins.
//   slice_ns: the longest sleep.
//   stop(look): a status that ends the wait, or IPC_OK; `look` is true when a look at a socket is due, a system call.
//   park(ns): announces that this side sleeps, makes sure that it is still neither ready() nor to stop, since whoever came
//             before the announcement woke nobody, and sleeps at most so long; true after the whole time.
// IPC_TIMED_OUT comes without an error message. What became ready before an end was seen still counts.
template <class Ready, class Stop, class Park>
Status wait_until(const WaitPolicy& policy, SpinBudget& budget, const Deadline& deadline, int64_t slice_ns, Ready ready,
                  Stop stop, Park park) {
    if (ready()) [[likely]]
        return IPC_OK;
    if (policy.mode != WaitMode::block) {
        constexpr int64_t look_interval_ns = 5'000'000;
        int64_t start = 0, spun = 0, next_look = 1'000'000;
        const int iterations = policy.one_processor ? 1 : spin_iterations;
        const int64_t allowed = budget.next_ns(policy.spin_ns);
        while (true) {
            for (int iteration = 0; iteration < iterations; ++iteration) {
                relax();
                if (ready()) [[likely]] {
                    budget.found();
                    return IPC_OK;
                }
            }
            // Not read at all when the answer arrives within the first run of iterations.
            if (start == 0)
                start = now_ns();
            else
                spun = now_ns() - start;
            if (policy.mode == WaitMode::adaptive && spun >= allowed) {
                budget.in_vain();
                break;
            }
            // With one processor whoever is waited for can only run if we let it, from the start.
            if (policy.one_processor || spun >= yield_after_ns) yield_processor();
            const bool look = spun >= next_look;
            if (look) next_look = spun + look_interval_ns;
            if (Status s = stop(look)) return ready() ? IPC_OK : s;
            if (deadline.expired()) return ready() ? IPC_OK : IPC_TIMED_OUT;
        }
    }
    bool slept_a_whole_slice = false; // then the peer may have died without a word
    while (true) {
        if (Status s = stop(slept_a_whole_slice)) return ready() ? IPC_OK : s;
        if (deadline.expired()) return ready() ? IPC_OK : IPC_TIMED_OUT;
        const int64_t left = deadline.left_ns();
        slept_a_whole_slice = park(left < slice_ns ? left : slice_ns);
        if (ready()) return IPC_OK;
    }
}

// The same for waiters without a budget of their own: adaptive spins all of its time.
template <class Ready, class Stop, class Park>
Status wait_until(const WaitPolicy& policy, const Deadline& deadline, Ready ready, Stop stop, Park park) {
    SpinBudget all;
    return wait_until(policy, all, deadline, sleep_slice_ns, ready, stop, park);
}

} // namespace ipc::shared_memory
