// Scenario `paced`: raw calls, so many a second. A call's time counts from when it was due, so that what holds one up is
// charged to all that come due meanwhile; while it waits for the next to be due, the client sleeps and then spins.
#include "call_raw.hpp"
#include "failure.hpp"
#include "scenarios.hpp"

#include <thread>

namespace ipc::peer {
namespace {

class PacedCall final : public Operation {
  public:
    PacedCall(const Cell& cell, Control& control)
        : rate_(cell.workload.rate), exchange_(cell), connection_(Connection::connect(cell, control)) {}

    // The warm-up does not wait: it is there to get everything ready.
    void begin(int64_t begin_ns) override {
        begin_ns_ = begin_ns;
        calls_ = 0;
        spun_ns_ = 0;
        paced_ = true;
    }
    int64_t spun_ns() const override { return spun_ns_; }

    Timing once() override {
        exchange_.prepare();
        const int64_t due_ns = paced_ ? wait_until_due() : now_ns();
        exchange_.call(connection_.channel());
        const int64_t end_ns = now_ns();
        return {end_ns, end_ns - due_ns, exchange_.check_reply()};
    }

  private:
#if defined(_WIN32)
    static constexpr int64_t awake_before_ns = 17'000'000; // its clock ticks every 15.6 ms
#else
    static constexpr int64_t awake_before_ns = 300'000; // a sleeper is late by 50 to 100 microseconds
#endif
    static constexpr int64_t least_sleep_ns = 1'000'000;

    // When the next call is due, which is not before now, unless that has passed.
    int64_t wait_until_due() {
        const auto after_ns = static_cast<int64_t>(static_cast<double>(++calls_) * 1e9 / rate_);
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

    double rate_;
    RawExchange exchange_;
    Connection connection_;
    bool paced_ = false;
    int64_t begin_ns_ = 0;
    uint64_t calls_ = 0;
    int64_t spun_ns_ = 0;
};

} // namespace

void paced_client(const Cell& cell, Control& control) {
    if (!(cell.workload.rate > 0))
        fail_bad_cell("workload '" + cell.workload.id + "' has no rate: scenario paced needs calls per second");
    play_client<PacedCall>(cell, control);
}

} // namespace ipc::peer
