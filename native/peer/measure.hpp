#pragma once

#include "cell.hpp"
#include "control.hpp"
#include "usage.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ipc::peer {

inline int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Timing {
    int64_t end_ns = 0;  // now_ns() when it was over
    int64_t took_ns = 0; // of the timed region alone
    uint64_t bytes = 0;  // payload moved, both ways
};

// What is repeated and measured. once() makes its payload before, and checks the outcome after, its timed region.
class Operation {
  public:
    virtual ~Operation() = default;
    virtual Timing once() = 0; // throws Failure
    // From now on as it is measured; may be said again.
    virtual void begin(int64_t) {}
    // Ends what is under way beyond the operations that were counted.
    virtual void finish() {}
    // Processor time that went into waiting for the next operation to be due: no part of what it costs.
    virtual int64_t spun_ns() const { return 0; }
};

struct WarmUp {
    uint64_t operations = 0;
    double operations_per_second = 0; // of the fastest window, checks included
    double p50_ns = 0;                // of its timed regions
    bool settled = false;             // it got no faster any more
};

// Repeats at least warmup_seconds and until the medians of two successive windows differ by 5 % or less, at most three
// times as long.
WarmUp warm_up(const Cell& cell, const Control& control, Operation& operation);

// The event `warm`. again: whether the command `warm` makes this client go on.
void say_warm(Control& control, const WarmUp& warm, int64_t cold_ns, bool again);

struct Recording {
    std::vector<uint32_t> samples; // nanoseconds of each operation, saturated
    int64_t elapsed_ns = 0;
    uint64_t bytes = 0;
    Usage before;
    Usage after;
};

// Measures. A few operations go unmeasured first: both peers have parked while they waited for the word to go.
Recording record(const Cell& cell, const Control& control, Operation& operation, double operations_per_second);

// Room for so many samples, touched, so that no page fault falls into the measurement.
std::vector<uint32_t> touched_samples(double expected);

// As read_memory, without the samples: they belong to the measurement, not to what it costs to communicate.
std::optional<uint64_t> memory_without(const std::vector<uint32_t>& samples);

// Throws a Failure if the file cannot be written.
void write_samples(const std::string& path, const std::vector<uint32_t>& samples);

// Writes the samples and then tells that they are there.
void report(const Cell& cell, Control& control, const Recording& recording);

// The whole course of a client: `warm` as often as asked, `measured`. begin_ns: when it began to connect.
void run_client(const Cell& cell, Control& control, Operation& operation, int64_t begin_ns);

// The same with a Client made of (cell, control, further ...), which connects.
template <class Client, class... Further>
void play_client(const Cell& cell, Control& control, Further&&... further) {
    const int64_t begin_ns = now_ns();
    Client client(cell, control, std::forward<Further>(further)...);
    run_client(cell, control, client, begin_ns);
}

} // namespace ipc::peer
