#pragma once

#include "floors.hpp"

#include <cstdint>
#include <functional>

namespace floors {

void pin_to(int cpu);
void relax(); // one turn of a loop that waits for another processor
inline int64_t now_ns();

// Memory two processes share, zeroed; unmapped at the end.
class Shared {
  public:
    explicit Shared(size_t bytes);
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    char* bytes() const { return bytes_; }

  private:
    char* bytes_;
    size_t size_;
};

// Forks a process that runs `serve` until it returns, on the server's processor, and measures `exchange` in this one, on the
// client's; returns the median nanoseconds of an exchange. `stop` must make serve return; it runs here at the end.
double median_rtt_ns(const Setup& setup, const std::function<void()>& serve, const std::function<void()>& exchange,
                     const std::function<void()>& stop);

} // namespace floors

#include <ctime>

inline int64_t floors::now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
