#include "win32/interrupt.hpp"

#include "win32/error_text.hpp"

namespace ipc::win32 {

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
    const HANDLE both[2] = {event_.get(), object};
    const DWORD limit = deadline.forever() ? INFINITE : static_cast<DWORD>(deadline.left_ms());
    switch (WaitForMultipleObjects(2, both, FALSE, limit)) {
    case WAIT_OBJECT_0:
        return IPC_CLOSED;
    case WAIT_OBJECT_0 + 1:
        return IPC_OK;
    case WAIT_TIMEOUT:
        return IPC_TIMED_OUT;
    default:
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot wait for an event");
    }
}

} // namespace ipc::win32
