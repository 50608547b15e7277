#pragma once

#include "posix/interrupt.hpp"

#include <cerrno>

namespace ipc::posix {

// Failures of the system that pass when somebody gives something back: no descriptor, no buffer, no memory.
inline bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// Pauses between tries while the system is short of something: 10 ms, doubling up to a second.
class Backoff {
  public:
    // IPC_OK: try again. IPC_TIMED_OUT: the deadline has passed. IPC_CLOSED: interrupted.
    Status wait(const Interrupt& interrupt, const Deadline& deadline);

  private:
    int pause_ms_ = 10;
};

} // namespace ipc::posix
