#pragma once

#include "core/status.hpp"

#include <array>
#include <cstdint>
#include <netinet/in.h>
#include <string>

namespace ipc {

// One end of a TCP connection; an IPv4 address in its IPv6 form ::ffff:a.b.c.d.
struct TcpEnd {
    std::array<uint8_t, 16> address{};
    uint16_t port = 0;

    static TcpEnd of(const sockaddr_storage& address);
    bool is_loopback() const;
    bool is_any() const; // 0.0.0.0 or ::
    bool operator==(const TcpEnd&) const = default;
};

enum class TcpPeer { client, server };

// Checks in /proc/net/tcp that the other end of a loopback connection belongs to our own user: IPC_NO_PERMISSION if it
// does not or nobody owns it any more. A server that has not accepted yet is known by its listening socket.
Status check_loopback_peer(int connection, TcpPeer peer, const std::string& address);

// Waits, at most `limit_ms`, until the server has accepted this loopback connection or refused it.
void wait_until_accepted(int connection, int limit_ms);

} // namespace ipc
