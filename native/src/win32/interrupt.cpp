#include "win32/interrupt.hpp"

#include "win32/error_text.hpp"

namespace ipc::win32 {

bool set_or_reset(HANDLE event, bool set) {
    return (set ? SetEvent(event) : ResetEvent(event)) != FALSE;
}

Status Interrupt::open() {
    event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!event_) return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    return IPC_OK;
}

bool Interrupt::raise() {
    if (raised_.exchange(true, std::memory_order_acq_rel)) return false;
    SetEvent(event_.get());
    return true;
}

Status Interrupt::wait(HANDLE object, const Deadline& deadline) const {
    const HANDLE events[] = {event_.get(), object};
    return wait_for(events, 2, deadline);
}

Status Interrupt::wait_unless_recalled(HANDLE object, HANDLE recall, const Deadline& deadline) const {
    const HANDLE events[] = {event_.get(), object, recall};
    return wait_for(events, 3, deadline);
}

// Of several that are set the system names the first.
Status Interrupt::wait_for(const HANDLE* events, DWORD count, const Deadline& deadline) const {
    while (true) {
        const DWORD limit = deadline.forever() ? INFINITE : static_cast<DWORD>(deadline.left_ms());
        switch (WaitForMultipleObjects(count, events, FALSE, limit)) {
        case WAIT_OBJECT_0:
            return IPC_CLOSED;
        case WAIT_OBJECT_0 + 1:
            return IPC_OK;
        case WAIT_OBJECT_0 + 2:
            return IPC_TIMED_OUT;
        case WAIT_TIMEOUT:
            // The system counts in ticks, which may be over a little early.
            if (deadline.expired()) return IPC_TIMED_OUT;
            break;
        default:
            return fail_windows(IPC_SYSTEM, GetLastError(), "cannot wait for an event");
        }
    }
}

Status Interrupt::wait_for_socket(HANDLE event, const Deadline& deadline) const {
    constexpr int slice_ms = 100;
    if (!deadline.forever() && deadline.left_ms() <= slice_ms) return wait(event, deadline);
    const Status status = wait(event, Deadline(slice_ms));
    return status == IPC_TIMED_OUT ? IPC_OK : status;
}

} // namespace ipc::win32
