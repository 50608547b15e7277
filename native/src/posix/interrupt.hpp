#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "posix/descriptor.hpp"

#include <atomic>
#include <poll.h>

namespace ipc::posix {

// Wakes every thread that waits on a listener or FIFO, once and for good. All functions may be called from any thread.
class Interrupt {
  public:
    // Must succeed before anything else is called.
    Status open();

    // True for the first caller only.
    bool raise();
    bool raised() const { return raised_.load(std::memory_order_acquire); }

    // Waits until one of `count` (at most 2) entries has an event, whose revents are then filled in. IPC_TIMED_OUT and
    // IPC_CLOSED (raised) come without an error message: the caller knows what it waited for.
    Status wait(pollfd* entries, int count, const Deadline& deadline) const;
    // For a thread that polls more than that: readable once raised.
    int descriptor() const { return event_.get(); }

  private:
    Descriptor event_;
    std::atomic<bool> raised_{false};
};

} // namespace ipc::posix
