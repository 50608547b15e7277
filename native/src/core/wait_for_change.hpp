#pragma once

#include "deadline.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace ipc {

// Until notified, woken for no reason, or the deadline: whoever waits looks again, in a loop. Without an end it waits an hour at a time, because
// std::condition_variable::wait would be the one function of libipc that the C++ runtime of GCC 11 lacks (docs/installing.md, "Older systems").
inline void wait_for_change(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                            const Deadline& deadline) {
    const auto left = std::chrono::nanoseconds(deadline.left_ns());
    changed.wait_for(lock, std::min<std::chrono::nanoseconds>(left, std::chrono::hours(1)));
}

} // namespace ipc
