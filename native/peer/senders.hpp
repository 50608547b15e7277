#pragma once

#include "control.hpp"
#include "usage.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace ipc::peer {

// The sending threads of this process, which the runner hears of together: the last of them to come to a point speaks for all.
class Senders {
  public:
    Senders(Control& control, size_t threads) : control_(control), threads_(threads) {}

    // A thread is warm. Says `warm` when all are, and returns in all of them when they may go. Throws if one has failed.
    void wait_for_go(uint64_t operations, int64_t cold_ns);
    // A thread has sent what it had to. spun_ns: its processor time that only waited until messages were due.
    void have_sent(uint64_t operations, int64_t elapsed_ns, int64_t spun_ns);
    // What a thread has sent has arrived. Says `measured` when that is so of all.
    void tell_measured(size_t message_bytes);
    // A thread has failed: nobody waits for it.
    void give_up();

  private:
    Control& control_;
    const size_t threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool failed_ = false;
    bool go_ = false;
    size_t warm_ = 0;
    size_t sent_ = 0;
    size_t told_ = 0;
    uint64_t operations_ = 0;
    int64_t cold_ns_ = 0;
    int64_t elapsed_ns_ = 0;
    int64_t spun_ns_ = 0;
    double slowest_ = 0; // messages a nanosecond
    double fastest_ = 0;
    Usage before_;
    Usage after_;
};

} // namespace ipc::peer
