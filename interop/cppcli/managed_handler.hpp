#pragma once

#include "ipc/ipc.h"

// From a native process to a handler in .NET, by C++/CLI (design word: side `hosted` with Visual C++; elsewhere the runtime is
// hosted through hostfxr). Plain C++ may include this header.

#if defined(IPC_CPPCLI_BUILDING)
#    define IPC_CPPCLI_API __declspec(dllexport)
#else
#    define IPC_CPPCLI_API __declspec(dllimport)
#endif

extern "C" {

// Answers the calls of a channel with a static .NET method, as ipc_serve does with a native handler, and returns as that does.
//   assembly: full path of the assembly; type: its full name; method: public static byte[] NAME(byte[] request).
// What the method throws reaches the client as a failed call with the exception's message. IPC_NOT_AVAILABLE if there is no such method;
// ipc_cppcli_last_error() then says what was missing.
IPC_CPPCLI_API ipc_status ipc_cppcli_serve(ipc_channel* channel, const wchar_t* assembly, const wchar_t* type,
                                           const wchar_t* method);

// The calling thread's latest failure of ipc_cppcli_serve to find the method, in UTF-16; "" if none.
IPC_CPPCLI_API const wchar_t* ipc_cppcli_last_error(void);
}
