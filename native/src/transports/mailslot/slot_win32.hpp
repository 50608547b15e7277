#pragma once

#include "core/status.hpp"
#include "win32/handle.hpp"
#include "win32/interrupt.hpp"

#include <cstddef>
#include <string>

namespace ipc::mailslot {

// Waits are cut into slices, between which closing and the peer's death are looked for.
constexpr DWORD slice_ms = 50;

// The reading end of a mailslot, which this process makes and which goes with it. One thread at a time.
class Slot {
  public:
    // ERROR_ALREADY_EXISTS when the name is taken; 0 for success. Longer messages than `most` are refused by the system.
    DWORD make(const std::wstring& name, size_t most, SECURITY_ATTRIBUTES* security);

    // The next message. IPC_TIMED_OUT when none came for `patience_ms` (at most slice_ms), IPC_CLOSED when interrupted, both
    // without an error message. `room` is longer than `most`: on a system that does not refuse them, *length shows what is over.
    Status receive(void* room, size_t capacity, DWORD patience_ms, const win32::Interrupt& interrupt, size_t* length);

    void reset() { slot_.reset(); }

  private:
    win32::Handle slot_;
    win32::Handle event_;
    DWORD patience_ms_ = 0;
};

// The writing end of another process's mailslot. One thread at a time.
class SlotWriter {
  public:
    // What GetLastError() said, 0 for success.
    DWORD open(const std::wstring& name);

    // IPC_TIMED_OUT, without an error message, when there was no room for a slice (Windows has always room, Wine has not); nothing
    // was written then. IPC_PEER_CLOSED, without one, when the slot has gone.
    Status send(const void* message, size_t length);

    HANDLE handle() const { return slot_.get(); }

  private:
    win32::Handle slot_;
    win32::Handle event_;
};

} // namespace ipc::mailslot
