#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "win32/handle.hpp"

#include <atomic>

namespace ipc::win32 {

// False: the system refuses.
bool set_or_reset(HANDLE event, bool set);

// Wakes every thread that waits on a listener or stream, once and for good. All functions may be called from any thread.
class Interrupt {
  public:
    // Must succeed before anything else is called.
    Status open();

    // True for the first caller only.
    bool raise();
    bool raised() const { return raised_.load(std::memory_order_acquire); }
    // An event that is set once raised, for those who wait for other things as well.
    HANDLE event() const { return event_.get(); }

    // Waits until `object` is signalled. IPC_TIMED_OUT and IPC_CLOSED (raised) come without an error message: the caller knows
    // what it waited for.
    Status wait(HANDLE object, const Deadline& deadline) const;
    // The same with one more reason to give up: while `recall` is set it ends with IPC_TIMED_OUT, unless `object` is signalled.
    Status wait_unless_recalled(HANDLE object, HANDLE recall, const Deadline& deadline) const;
    // The same for a socket's event, with which a system can be trusted less (docs/windows.md, "Events of sockets"): IPC_OK also
    // when some time has passed without it, so the caller looks at the socket again in any case.
    Status wait_for_socket(HANDLE event, const Deadline& deadline) const;

  private:
    Status wait_for(const HANDLE* events, DWORD count, const Deadline& deadline) const;

    Handle event_;
    std::atomic<bool> raised_{false};
};

} // namespace ipc::win32
