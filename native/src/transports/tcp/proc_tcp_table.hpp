#pragma once

#include "transports/tcp/tcp_table.hpp"

namespace ipc {

// The table of Linux: /proc/net/tcp and tcp6, found under `proc`. The owner is a user's number.
void for_each_proc_row(const char* proc, const std::function<void(const TcpRow&)>& visit);

// A state by its number in Linux.
TcpState tcp_state_of_linux(unsigned state);

} // namespace ipc
