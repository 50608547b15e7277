#pragma once

#include <signal.h>

namespace ipc::posix {

// Holds back a signal that a system call sends to its own thread, such as SIGPIPE from a write or SIGXFSZ from making a file larger,
// whose default is to end the program. `was_raised`, said after a call that failed in this way, takes the signal away again.
class HeldSignal {
  public:
    explicit HeldSignal(int signal);
    ~HeldSignal(); // keeps errno
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;

    void was_raised(); // keeps errno

  private:
    sigset_t held_;
    sigset_t before_;
    // A signal that the program itself keeps blocked and pending is not ours to take away.
    bool was_blocked_;
    bool was_pending_ = false;
};

} // namespace ipc::posix
