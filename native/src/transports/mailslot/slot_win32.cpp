#include "transports/mailslot/slot_win32.hpp"

#include "win32/error_text.hpp"

namespace ipc::mailslot {

using win32::fail_windows;

DWORD Slot::make(const std::wstring& name, size_t most, SECURITY_ATTRIBUTES* security) {
    event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!event_) return GetLastError();
    patience_ms_ = slice_ms;
    slot_.reset(CreateMailslotW(name.c_str(), static_cast<DWORD>(most), patience_ms_, security));
    return slot_ ? 0 : GetLastError();
}

// Wine carries a read out at once, within the slot's own time-out; Windows leaves it pending, so that it can be interrupted.
Status Slot::receive(void* room, size_t capacity, DWORD patience_ms, const win32::Interrupt& interrupt,
                     size_t* length) {
    if (patience_ms != patience_ms_) {
        if (!SetMailslotInfo(slot_.get(), patience_ms))
            return fail_windows(IPC_SYSTEM, GetLastError(), "cannot set how long a mailslot waits");
        patience_ms_ = patience_ms;
    }
    OVERLAPPED operation{};
    operation.hEvent = event_.get();
    DWORD got = 0;
    BOOL done = ReadFile(slot_.get(), room, static_cast<DWORD>(capacity), &got, &operation);
    DWORD error = done ? 0 : GetLastError();
    if (error == ERROR_IO_PENDING) {
        const HANDLE both[2] = {event_.get(), interrupt.event()};
        if (WaitForMultipleObjects(2, both, FALSE, INFINITE) != WAIT_OBJECT_0) CancelIoEx(slot_.get(), &operation);
        // What had come before it was cancelled is not lost.
        done = GetOverlappedResult(slot_.get(), &operation, &got, TRUE);
        error = done ? 0 : GetLastError();
    }
    *length = got;
    switch (error) {
    case 0:
        return interrupt.raised() ? IPC_CLOSED : IPC_OK;
    case ERROR_SEM_TIMEOUT:
        return interrupt.raised() ? IPC_CLOSED : IPC_TIMED_OUT;
    case ERROR_OPERATION_ABORTED:
        return IPC_CLOSED;
    case ERROR_BROKEN_PIPE: // an empty message, on Wine
        *length = 0;
        return IPC_OK;
    default:
        return fail_windows(IPC_SYSTEM, error, "cannot read from a mailslot");
    }
}

DWORD SlotWriter::open(const std::wstring& name) {
    event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!event_) return GetLastError();
    slot_.reset(CreateFileW(name.c_str(), GENERIC_WRITE | READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                            OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr));
    return slot_ ? 0 : GetLastError();
}

Status SlotWriter::send(const void* message, size_t length) {
    OVERLAPPED operation{};
    operation.hEvent = event_.get();
    DWORD put = 0;
    BOOL done = WriteFile(slot_.get(), message, static_cast<DWORD>(length), &put, &operation);
    if (!done && GetLastError() == ERROR_IO_PENDING) {
        if (WaitForSingleObject(event_.get(), slice_ms) != WAIT_OBJECT_0) CancelIoEx(slot_.get(), &operation);
        done = GetOverlappedResult(slot_.get(), &operation, &put, TRUE);
        if (!done && GetLastError() == ERROR_OPERATION_ABORTED) return IPC_TIMED_OUT;
    }
    if (done && put == length) return IPC_OK;
    const DWORD error = done ? ERROR_SUCCESS : GetLastError();
    if (error == ERROR_NO_SYSTEM_RESOURCES || error == ERROR_NOT_ENOUGH_QUOTA || error == ERROR_NOT_ENOUGH_MEMORY)
        return fail_windows(IPC_OUT_OF_MEMORY, error, "the system has no memory for a message in a mailslot");
    // Whatever else it says, there is one reason for a slot not to take a message of the length it was made for.
    return IPC_PEER_CLOSED;
}

} // namespace ipc::mailslot
