#include "ping_pong.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace floors {

// However short the time: the median of fewer says little, and exchanges of megabytes take a millisecond.
static constexpr size_t least_samples = 31;

// The median read between the steps of the clock, exactly as the lab reads its cells': docs/measurement.md.
static double median(std::vector<int64_t> samples) {
    std::sort(samples.begin(), samples.end());
    const auto rank = static_cast<ptrdiff_t>((samples.size() + 1) / 2 - 1);
    const int64_t value = samples[static_cast<size_t>(rank)];
    const auto [first, end] = std::equal_range(samples.begin(), samples.end(), value);
    if (end - first == 1) return static_cast<double>(value);
    const auto middle = [value](int64_t other) { return static_cast<double>(value + other) / 2; };
    const double low = first != samples.begin() ? middle(first[-1]) : middle(value);
    const double high = end != samples.end() ? middle(*end) : middle(value);
    const double share =
        (static_cast<double>(rank - (first - samples.begin())) + 0.5) / static_cast<double>(end - first);
    return low + (high - low) * share;
}

double median_rtt_ns(const Setup& setup, const std::function<void()>& serve, const std::function<void()>& exchange,
                     const std::function<void()>& stop) {
    Partner server(setup.server_cpu, serve);
    pin_to(setup.client_cpu);
    const auto budget = static_cast<int64_t>(setup.seconds * 1e9);
    for (int64_t end = now_ns() + static_cast<int64_t>(setup.warmup_seconds * 1e9); now_ns() < end;) exchange();
    std::vector<int64_t> samples;
    samples.reserve(1 << 20);
    for (int64_t end = now_ns() + budget;;) {
        int64_t before = now_ns();
        exchange();
        int64_t after = now_ns();
        samples.push_back(after - before);
        if (after >= end && samples.size() >= least_samples) break;
    }
    stop();
    if (!server.join()) throw std::runtime_error("the answering process of a floor failed");
    return median(std::move(samples));
}

} // namespace floors
