// Scenario `paced`: raw calls, so many a second. A call's time counts from when it was due, so that what holds one up is
// charged to all that come due meanwhile; while it waits for the next to be due, the client sleeps and then spins.
#include "call_raw.hpp"
#include "failure.hpp"
#include "pacer.hpp"
#include "scenarios.hpp"

namespace ipc::peer {
namespace {

class PacedCall final : public Operation {
  public:
    PacedCall(const Cell& cell, Control& control)
        : pacer_(cell.workload.rate), exchange_(cell), connection_(Connection::connect(cell, control)) {}

    // The warm-up does not wait: it is there to get everything ready.
    void begin(int64_t begin_ns) override {
        pacer_.begin(begin_ns);
        paced_ = true;
    }
    int64_t spun_ns() const override { return pacer_.spun_ns(); }

    Timing once() override {
        exchange_.prepare();
        const int64_t due_ns = paced_ ? pacer_.wait_until_due() : now_ns();
        exchange_.call(connection_.channel());
        const int64_t end_ns = now_ns();
        return {end_ns, end_ns - due_ns, exchange_.check_reply()};
    }

  private:
    Pacer pacer_;
    RawExchange exchange_;
    Connection connection_;
    bool paced_ = false;
};

} // namespace

void paced_client(const Cell& cell, Control& control) {
    if (!(cell.workload.rate > 0))
        fail_bad_cell("workload '" + cell.workload.id + "' has no rate: scenario paced needs calls per second");
    play_client<PacedCall>(cell, control);
}

} // namespace ipc::peer
