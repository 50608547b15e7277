#pragma once

#include "core/status.hpp"
#include "shared_memory/waiting.hpp"

namespace ipc::shared_memory {

inline constexpr int64_t sleep_slice_ns = 50'000'000; // a peer killed outright is noticed between two slices

// Waits until ready() as the policy says; for those who share memory by other means than a Link.
//   stop(look): a status that ends the wait, or IPC_OK; `look` is true when a look at a socket is due, a system call.
//   park(ns): announces that this side sleeps, makes sure that it is still not ready(), and sleeps at most so long;
//             true after the whole time.
// IPC_TIMED_OUT comes without a sentence. What became ready before an end was seen still counts.
template <class Ready, class Stop, class Park>
Status wait_until(const WaitPolicy& policy, const Deadline& deadline, Ready ready, Stop stop, Park park) {
    if (ready()) return IPC_OK;
    if (policy.mode != WaitMode::block) {
        constexpr int looks_in_a_bout = 100; // a clock read costs as much as several looks
        constexpr int64_t yield_after_ns = 100'000, look_interval_ns = 5'000'000;
        const int64_t start = now_ns();
        for (int64_t spun = 0, next_look = 1'000'000; policy.mode == WaitMode::spin || spun < policy.spin_ns;) {
            for (int look = 0; look < looks_in_a_bout; ++look) {
                relax();
                if (ready()) return IPC_OK;
            }
            spun = now_ns() - start;
            if (only_one_processor() || spun >= yield_after_ns) yield_processor();
            const bool look = spun >= next_look;
            if (look) next_look = spun + look_interval_ns;
            if (Status s = stop(look)) return ready() ? IPC_OK : s;
            if (deadline.expired()) return ready() ? IPC_OK : IPC_TIMED_OUT;
        }
    }
    bool slept_a_whole_slice = false;
    while (true) {
        if (Status s = stop(slept_a_whole_slice)) return ready() ? IPC_OK : s;
        if (deadline.expired()) return ready() ? IPC_OK : IPC_TIMED_OUT;
        const int64_t left = deadline.left_ns();
        slept_a_whole_slice = park(left < sleep_slice_ns ? left : sleep_slice_ns);
        if (ready()) return IPC_OK;
    }
}

} // namespace ipc::shared_memory
