#pragma once

#include <cstdint>

namespace ipc::peer {

// Gives the times at which something is due, so many a second, and waits for them: asleep as long as the system wakes punctually, then spinning.
class Pacer {
  public:
    // rate: a second, above 0.
    explicit Pacer(double rate) : rate_(rate) {}

    // The first is due one interval after this.
    void begin(int64_t begin_ns) {
        begin_ns_ = begin_ns;
        count_ = 0;
        spun_ns_ = 0;
    }
    // When the next is due, which is not before now, unless that has passed.
    int64_t wait_until_due();
    // Processor time that waiting has taken since begin.
    int64_t spun_ns() const { return spun_ns_; }

  private:
    double rate_;
    int64_t begin_ns_ = 0;
    uint64_t count_ = 0;
    int64_t spun_ns_ = 0;
};

} // namespace ipc::peer
