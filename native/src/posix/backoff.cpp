#include "posix/backoff.hpp"

#include <algorithm>

namespace ipc::posix {

Status Backoff::wait(const Interrupt& interrupt, const Deadline& deadline) {
    const int left_ms = deadline.left_ms();
    const Status status = interrupt.wait(nullptr, 0, Deadline(left_ms < 0 ? pause_ms_ : std::min(left_ms, pause_ms_)));
    pause_ms_ = std::min(2 * pause_ms_, 1000);
    if (status != IPC_TIMED_OUT) return status;
    return deadline.expired() ? IPC_TIMED_OUT : IPC_OK;
}

} // namespace ipc::posix
