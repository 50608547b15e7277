#include "pacer.hpp"

#include "measure.hpp"
#include "usage.hpp"

#include <chrono>
#include <thread>

namespace ipc::peer {
namespace {

#if defined(_WIN32)
constexpr int64_t awake_before_ns = 17'000'000; // its clock ticks every 15.6 ms
#else
constexpr int64_t awake_before_ns = 300'000; // a sleeper is late by 50 to 100 microseconds
#endif
constexpr int64_t least_sleep_ns = 1'000'000;

} // namespace

int64_t Pacer::wait_until_due() {
    const auto after_ns = static_cast<int64_t>(static_cast<double>(++count_) * 1e9 / rate_);
    const int64_t due_ns = begin_ns_ + after_ns;
    const int64_t left_ns = due_ns - now_ns();
    if (left_ns <= 0) return due_ns;
    if (const int64_t asleep_ns = left_ns - awake_before_ns; asleep_ns >= least_sleep_ns)
        std::this_thread::sleep_for(std::chrono::nanoseconds(asleep_ns));
    // What others took from this thread meanwhile it has not spent.
    const int64_t cpu_ns = thread_cpu_ns();
    while (now_ns() < due_ns) {
    }
    spun_ns_ += thread_cpu_ns() - cpu_ns;
    return due_ns;
}

} // namespace ipc::peer
