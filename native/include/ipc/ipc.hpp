// ipc.hpp - C++17 over the C ABI: move-only handles that free themselves, and bytes as pointer and length or, in C++20, as std::span.
// Failures are exceptions; functions that begin with try_ return a Result instead (result.hpp). Header-only: nothing here is compiled
// into the library. The rules of ipc.h for threads, ownership and time-outs apply.
#ifndef IPC_IPC_HPP
#define IPC_IPC_HPP

#include "ipc/broadcast.hpp"
#include "ipc/channel.hpp"
#include "ipc/ipc.h"
#include "ipc/queue.hpp"
#include "ipc/result.hpp"
#include "ipc/transports.hpp"

// Server and Client report failures by exceptions only.
#if IPC_HAS_EXCEPTIONS
#    include "ipc/client.hpp"
#    include "ipc/server.hpp"
#endif

#endif
