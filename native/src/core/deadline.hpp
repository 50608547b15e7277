#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ipc {

// The moment a blocking call must give up, from its time-out in milliseconds (-1: never). The clock is read when somebody
// first asks, so that a call that need not wait never reads it: a read costs as much as a short message. Until then nothing
// has blocked, so no time is given away. For one thread.
class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Deadline(int32_t timeout_ms) : timeout_ms_(timeout_ms) {}

    bool forever() const { return timeout_ms_ < 0; }
    // Nothing may be waited for: somebody polls.
    bool immediate() const { return timeout_ms_ == 0; }
    bool expired() const { return !forever() && (timeout_ms_ == 0 || has_passed()); }

    // Nanoseconds left, at least 0; INT64_MAX when there is no end.
    int64_t left_ns() const {
        if (forever()) return INT64_MAX;
        if (timeout_ms_ == 0) return 0;
        const auto end_of_time = end(); // before the clock is read again: the first ask has all the time left
        auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end_of_time - Clock::now()).count();
        return left > 0 ? left : 0;
    }
    // Milliseconds left rounded up, for poll(); -1 when there is no end.
    int left_ms() const { return forever() ? -1 : static_cast<int>((left_ns() + 999'999) / 1'000'000); }

    // For a lock that others hold for a moment at a time: who would not wait gives them a few milliseconds nevertheless.
    Deadline for_moments() const { return Deadline(forever() ? -1 : std::max(left_ms(), moment_ms)); }

  private:
    static constexpr int moment_ms = 8;

    bool has_passed() const {
        const auto end_of_time = end();
        return Clock::now() >= end_of_time;
    }
    Clock::time_point end() const {
        if (end_ == Clock::time_point{}) end_ = Clock::now() + std::chrono::milliseconds(timeout_ms_);
        return end_;
    }

    int32_t timeout_ms_;
    mutable Clock::time_point end_{};
};

} // namespace ipc
