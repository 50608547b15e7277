#pragma once

#include <chrono>
#include <cstdint>

namespace ipc {

// The moment a blocking call must give up, made once from its time-out in milliseconds (-1: never).
// Reading the clock is put off until somebody asks, so that a call that need not wait never reads it.
class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Deadline(int32_t timeout_ms)
        : timeout_ms_(timeout_ms),
          end_(timeout_ms > 0 ? Clock::now() + std::chrono::milliseconds(timeout_ms) : Clock::time_point{}) {}

    bool forever() const { return timeout_ms_ < 0; }
    bool expired() const { return !forever() && (timeout_ms_ == 0 || Clock::now() >= end_); }

    // Nanoseconds left, at least 0; INT64_MAX when there is no end.
    int64_t left_ns() const {
        if (forever()) return INT64_MAX;
        if (timeout_ms_ == 0) return 0;
        auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - Clock::now()).count();
        return left > 0 ? left : 0;
    }
    // Milliseconds left rounded up, for poll(); -1 when there is no end.
    int left_ms() const { return forever() ? -1 : static_cast<int>((left_ns() + 999'999) / 1'000'000); }

  private:
    int32_t timeout_ms_;
    Clock::time_point end_;
};

} // namespace ipc
