#pragma once

#include "core/status.hpp"

#include <string>
#include <windows.h>

namespace ipc::win32 {

// The system's words for an error of GetLastError() or a status of rpcrt4, in UTF-8 and without a full stop, with the number:
// "Access is denied (error 5)".
std::string error_text(DWORD error);

// As fail() (core/status.hpp) for a failed system call: appends the system's words for `error`.
IPC_PRINTF(3, 4) Status fail_windows(Status status, DWORD error, const char* format, ...);

} // namespace ipc::win32
