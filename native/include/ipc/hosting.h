/*
 * hosting.h - .NET code inside a native process: library ipc-hosting, which starts the runtime through hostfxr.
 *
 * The first call that needs it starts .NET in this process, where it then stays until the process ends. `assembly` is the full path of a
 * managed assembly as `dotnet build` or `dotnet publish` leaves it, in its folder with everything it refers to:
 *   - a library with <EnableDynamicLoading>true</EnableDynamicLoading>, or a program. The runtime that NAME.runtimeconfig.json asks for is
 *     looked for in the folder that the environment variable DOTNET_ROOT names, and then where .NET is installed;
 *   - a program published self-contained (not run yet: docs/hosting.md). The runtime in its folder is taken; there can be one such
 *     program in a process, and its Main is not run.
 * `type` is a full type name, such as Prices.Answers; one of another assembly than `assembly` is followed by a comma and that one's name.
 *
 * All functions may be called from any thread. Texts are UTF-8. IPC_NOT_AVAILABLE is returned for everything that is missing or does not
 * fit; ipc_hosting_last_error() says what, and what to do about it. ipc/hosting.hpp is the same for C++.
 */
#ifndef IPC_HOSTING_H
#define IPC_HOSTING_H

#include "ipc/ipc.h"

#if !defined(_WIN32)
#    define IPC_HOSTING_API __attribute__((visibility("default")))
#elif defined(IPC_HOSTING_BUILDING)
#    define IPC_HOSTING_API __declspec(dllexport)
#else
#    define IPC_HOSTING_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a .NET handler answers through. `writer` is passed on as it is; the functions are those of ipc.h (ipc_reply_reserve, ipc_reply_fail)
   or do the same. `error` gives the text of a reservation's failure. */
typedef struct ipc_hosted_writer {
    size_t size; /* of this structure */
    ipc_status(IPC_CALL* reserve)(void* writer, size_t length, void** reply);
    ipc_status(IPC_CALL* fail)(void* writer, const char* text);
    const char*(IPC_CALL* error)(void);
} ipc_hosted_writer;

/* A .NET handler as native code calls it, at the cost of a call through a pointer. `handler` is what ipc_hosting_handler gave. Any number of
   threads may call at once. IPC_OK, IPC_HANDLER_FAILED after `fail` was told why, or what `reserve` returned of a channel that has ended
   (PEER_CLOSED, CLOSED, TRUNCATED), which is no failure of the handler's; no exception comes out of it. */
typedef ipc_status(IPC_CALL* ipc_hosted_answer)(void* handler, const void* request, size_t length, void* writer,
                                                const ipc_hosted_writer* functions);

/* A static method of .NET marked [UnmanagedCallersOnly], as a function: the caller knows its parameters and its calling convention.
   [INVALID_ARGUMENT, NOT_AVAILABLE] */
IPC_HOSTING_API ipc_status IPC_CALL ipc_hosting_function(const char* assembly, const char* type, const char* method,
                                                         void** function);
/* A handler: either `static void METHOD(ReadOnlySpan<byte> request, ReplyWriter reply)`, or `static RequestHandler METHOD()`, which is called
   once, here, and gives it. The assembly refers to package Ipc, whose types these are. What the handler throws fails the call with its
   message. Until ipc_hosting_free. [INVALID_ARGUMENT, NOT_AVAILABLE; HANDLER_FAILED: METHOD() threw] */
IPC_HOSTING_API ipc_status IPC_CALL ipc_hosting_handler(const char* assembly, const char* type, const char* method,
                                                        ipc_hosted_answer* answer, void** handler);
/* Lets go of a handler that no thread is in any more; NULL does nothing. */
IPC_HOSTING_API void IPC_CALL ipc_hosting_free(void* handler);
/* The calling thread's latest failure of these functions; "" if none. Valid until the thread's next call of one of them. */
IPC_HOSTING_API const char* IPC_CALL ipc_hosting_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
