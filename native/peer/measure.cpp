#include "measure.hpp"

#include "failure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace ipc::peer {
namespace {

constexpr double ns_per_second = 1e9;

uint32_t saturated(int64_t nanoseconds) {
    return static_cast<uint32_t>(std::clamp<int64_t>(nanoseconds, 0, std::numeric_limits<uint32_t>::max()));
}

uint32_t median(std::vector<uint32_t>& samples) {
    const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
}

// Runs for a stretch of time or until the window is full; returns when it ended.
int64_t fill_window(const Control& control, Operation& operation, int64_t end_ns, std::vector<uint32_t>& window) {
    window.clear();
    Timing timing;
    do {
        control.throw_if_ended();
        timing = operation.once();
        window.push_back(saturated(timing.took_ns));
    } while (timing.end_ns < end_ns && window.size() < window.capacity());
    return timing.end_ns;
}

// The operations that wake the parked peers: at most 16, or as many as 5 ms take.
void settle(Operation& operation) {
    constexpr int most_operations = 16;
    constexpr int64_t most_ns = 5'000'000;
    const int64_t end_ns = now_ns() + most_ns;
    for (int i = 0; i < most_operations; ++i)
        if (operation.once().end_ns >= end_ns) return;
}

} // namespace

std::vector<uint32_t> touched_samples(double expected) {
    constexpr double most = 256.0 * 1024 * 1024; // 1 GiB of samples; growing further is slow but right
    std::vector<uint32_t> samples(static_cast<size_t>(std::min(expected, most)), 1);
    samples.clear();
    return samples;
}

std::optional<uint64_t> memory_without(const std::vector<uint32_t>& samples) {
    auto memory = read_memory();
    if (memory) *memory -= std::min<uint64_t>(*memory, samples.capacity() * sizeof(uint32_t));
    return memory;
}

void write_samples(const std::string& path, const std::vector<uint32_t>& samples) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(samples.data()),
               static_cast<std::streamsize>(samples.size() * sizeof(uint32_t)));
    file.flush();
    if (!file)
        throw Failure("SYSTEM",
                      "the samples cannot be written to " + path + ": check that its folder exists and has room");
}

WarmUp warm_up(const Cell& cell, const Control& control, Operation& operation) {
    constexpr size_t most_in_window = size_t{1} << 20;
    constexpr double steady = 0.05;
    const auto least_ns = static_cast<int64_t>(cell.warmup_seconds * ns_per_second);
    const int64_t window_ns = least_ns / 4;
    std::vector<uint32_t> window;
    window.reserve(most_in_window);

    WarmUp result;
    double last = 0;
    const int64_t begin_ns = now_ns();
    for (int64_t window_begin_ns = begin_ns;;) {
        const int64_t end_ns = fill_window(control, operation, window_begin_ns + window_ns, window);
        result.operations += window.size();
        // The fastest window's: the last may be slow by chance, and then the samples would outgrow their room while they are taken.
        result.operations_per_second = std::max(
            result.operations_per_second, static_cast<double>(window.size()) * ns_per_second /
                                              static_cast<double>(std::max<int64_t>(end_ns - window_begin_ns, 1)));
        const double middle = median(window);
        const bool settled = last > 0 && std::abs(middle - last) <= steady * last;
        const int64_t elapsed_ns = end_ns - begin_ns;
        result.p50_ns = middle;
        result.settled = middle >= last * (1 - steady); // a noisy machine's times never keep within 5 %
        if (elapsed_ns >= 3 * least_ns || (settled && elapsed_ns >= least_ns)) return result;
        last = middle;
        window_begin_ns = now_ns();
    }
}

Recording record(const Cell& cell, const Control& control, Operation& operation, double operations_per_second) {
    Recording recording;
    auto& samples = recording.samples;
    samples = touched_samples(cell.count ? static_cast<double>(*cell.count)
                                         : operations_per_second * cell.seconds * 1.25 + 1024);
    const auto memory_before = memory_without(samples); // read early: it takes long enough for the peer to park
    operation.begin(now_ns());                          // what settles already keeps the pace that is measured
    settle(operation);
    operation.finish(); // whatever is measured also begins in the measurement

    const uint64_t count = cell.count.value_or(std::numeric_limits<uint64_t>::max());
    const int64_t duration_ns =
        cell.count ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cell.seconds * ns_per_second);
    recording.before = read_counters();
    const int64_t begin_ns = now_ns();
    operation.begin(begin_ns);
    Timing timing;
    do {
        control.throw_if_ended();
        timing = operation.once();
        samples.push_back(saturated(timing.took_ns));
        recording.bytes += timing.bytes;
    } while (samples.size() < count && timing.end_ns - begin_ns < duration_ns);
    recording.elapsed_ns = timing.end_ns - begin_ns;
    recording.after = read_counters();
    operation.finish();
    recording.after.cpu_ns = std::max(recording.before.cpu_ns, recording.after.cpu_ns - operation.spun_ns());
    recording.before.memory_bytes = memory_before;
    recording.after.memory_bytes = memory_without(samples);
    return recording;
}

void report(const Cell& cell, Control& control, const Recording& recording) {
    if (!cell.samples.empty()) write_samples(cell.samples, recording.samples);
    control.emit({{"event", "measured"},
                  {"operations", recording.samples.size()},
                  {"elapsed_ns", recording.elapsed_ns},
                  {"bytes", recording.bytes},
                  {"usage_before", to_json(recording.before)},
                  {"usage_after", to_json(recording.after)}});
}

void say_warm(Control& control, const WarmUp& warm, int64_t cold_ns, bool again) {
    nlohmann::ordered_json event{{"event", "warm"},      {"operations", warm.operations + 1},
                                 {"cold_ns", cold_ns},   {"settled", warm.settled},
                                 {"unsettled", nullptr}, {"p50_ns", warm.p50_ns},
                                 {"again", again}};
    if (!warm.settled) event["unsettled"] = "it was still getting faster";
    control.emit(event);
}

void run_client(const Cell& cell, Control& control, Operation& operation, int64_t begin_ns) {
    const int64_t cold_ns = operation.once().end_ns - begin_ns;
    WarmUp warm = warm_up(cell, control, operation);
    operation.finish();
    say_warm(control, warm, cold_ns, true);
    Cell further = cell; // a server that has not settled needs some more calls
    further.warmup_seconds = cell.warmup_seconds / 4;
    while (!control.wait_for_go_or_warm()) {
        const WarmUp before = warm;
        operation.begin(now_ns()); // the runner may already count what its server costs: at the pace that is measured
        warm = warm_up(further, control, operation);
        operation.finish();
        warm.operations += before.operations;
        warm.operations_per_second = std::max(warm.operations_per_second, before.operations_per_second);
        say_warm(control, warm, cold_ns, true);
    }
    report(cell, control, record(cell, control, operation, warm.operations_per_second));
}

} // namespace ipc::peer
