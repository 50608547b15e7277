#pragma once

#include "core/status.hpp"
#include "transports/tcp/tcp_end.hpp"

#include <string>

namespace ipc {

enum class TcpPeer { client, server };

// Checks in the system's table of sockets that the other end of a loopback connection belongs to our own user:
// IPC_NO_PERMISSION if it does not or nobody owns it any more. A server that has not accepted yet is known by its
// listening socket.
Status check_loopback_peer(SocketNumber connection, TcpPeer peer, const std::string& address);

// Waits, at most `limit_ms`, until the server has accepted this loopback connection or refused it. Returns at once where
// the system counts a connection as the listener's from the beginning (Windows).
void wait_until_accepted(SocketNumber connection, int limit_ms);

} // namespace ipc
