#pragma once

#include "ipc/ipc.h"

#include <cstdarg>
#include <string>

#if defined(__MINGW32__)
// The C++ library has its own printf there, which knows %zu; the compiler thinks of Microsoft's old one.
#    define IPC_PRINTF(format_at, first_at) __attribute__((format(gnu_printf, format_at, first_at)))
#elif defined(__GNUC__)
#    define IPC_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#    define IPC_PRINTF(format_at, first_at)
#endif

namespace ipc {

// The statuses of ipc.h; functions inside the library return them and leave the error message in the thread's last error.
using Status = ipc_status;

constexpr bool is_callers_mistake(Status status) {
    return status > IPC_OK && status < IPC_NAME_IN_USE;
}

// Remembers an error message (printf style) for ipc_last_error and returns the status, so that a failure is one line:
//   return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address);
IPC_PRINTF(2, 3) Status fail(Status status, const char* format, ...);

// The same with an error message that is constant: costs a nanosecond or two, for what polls.
Status fail_plainly(Status status, const char* literal);

// The same for a failed system call: appends what the system says of `error` (an errno value).
IPC_PRINTF(3, 4) Status fail_system(Status status, int error, const char* format, ...);

const char* last_error();

} // namespace ipc
