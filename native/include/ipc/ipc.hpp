// ipc.hpp - C++17 over the C ABI: handles that free themselves and can be moved, bytes as pointer and length (or, in C++20, std::span).
// Failures are exceptions, or, from functions that begin with try_, results (result.hpp). Header-only; nothing here is compiled into
// the library. Threads, ownership and time-outs are those of ipc.h.
#ifndef IPC_IPC_HPP
#define IPC_IPC_HPP

#include "ipc/broadcast.hpp"
#include "ipc/channel.hpp"
#include "ipc/ipc.h"
#include "ipc/queue.hpp"
#include "ipc/result.hpp"

// A server's threads and a client's reconnecting tell of failures by exceptions only.
#if IPC_HAS_EXCEPTIONS
#    include "ipc/client.hpp"
#    include "ipc/server.hpp"
#endif

#endif
