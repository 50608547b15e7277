#pragma once

#include "core/status.hpp"
#include "transports/tcp/tcp_table.hpp"

#include <string>
#include <vector>

namespace ipc {

// Checks, by what the system says of the other end of a loopback connection, that a server belongs to our own user: IPC_NO_PERMISSION if
// it does not or nobody owns it any more. A server that has not accepted yet is known by its listening socket.
Status check_loopback_server(SocketNumber connection, const std::string& address);

// The same for clients that have come to a server, as many as there are: one that is not known to be ours is marked so. Where the system
// does not answer for one socket, its table is looked through once for all.
enum class Client { ours, not_ours };
std::vector<Client> check_loopback_clients(const std::vector<SocketNumber>& connections, SocketQuery& query);

// Waits, at most `limit_ms`, until the server has accepted this loopback connection and knows whose it is, or has refused it. A server tells that
// it knows by turning keep-alive on, whose timer everybody sees in the system's table. Returns at once where the system counts a connection as
// the listener's from the beginning (Windows).
void wait_until_admitted(SocketNumber connection, int limit_ms);

} // namespace ipc
