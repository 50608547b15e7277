#pragma once

#include "floors.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#if defined(_MSC_VER)
#    include <windows.h>
#endif

namespace floors {

void pin_to(int cpu);
// One turn of a loop that waits for another processor.
inline void relax() {
#if defined(_MSC_VER)
    YieldProcessor();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}
// Spins until the word is another than the last; returns it.
inline uint32_t spin_for_change(const std::atomic<uint32_t>& word, uint32_t last) {
    uint32_t now;
    while ((now = word.load(std::memory_order_acquire)) == last) relax();
    return now;
}
inline int64_t now_ns() { // of a clock that never jumps
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

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

// The answering side: a process that runs `work` on the given processor (-1: anywhere), or on Windows a thread of this one.
class Partner {
  public:
    Partner(int cpu, std::function<void()> work);
    ~Partner();
    Partner(const Partner&) = delete;
    Partner& operator=(const Partner&) = delete;
    // Waits for its end; false if it failed.
    bool join();

  private:
#if defined(_WIN32)
    std::atomic<bool> failed_{false};
    std::thread thread_;
#else
    int process_ = -1;
#endif
};

// Has a partner run `serve` until it returns, on the server's processor, and measures `exchange` in this one, on the
// client's; returns the median nanoseconds of an exchange. `stop` must make serve return; it runs here at the end.
double median_rtt_ns(const Setup& setup, const std::function<void()>& serve, const std::function<void()>& exchange,
                     const std::function<void()>& stop);

} // namespace floors
