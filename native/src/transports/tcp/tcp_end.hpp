#pragma once

#include <array>
#include <cstdint>

#if defined(_WIN32)
#    include <winsock2.h>
#    include <ws2tcpip.h>
#else
#    include <netinet/in.h>
#    include <sys/socket.h>
#endif

namespace ipc {

#if defined(_WIN32)
using SocketNumber = SOCKET;
#else
using SocketNumber = int;
#endif

// One end of a TCP connection; an IPv4 address in its IPv6 form ::ffff:a.b.c.d.
struct TcpEnd {
    std::array<uint8_t, 16> address{};
    uint16_t port = 0;

    static TcpEnd of(const sockaddr_storage& address);
    bool is_loopback() const;
    bool is_any() const; // 0.0.0.0 or ::
    bool operator==(const TcpEnd&) const = default;
};

// Both ends of a connection, as one of them sees it.
struct TcpEnds {
    TcpEnd self;
    TcpEnd peer;

    // With nobody listening on a port that the system gives out itself, a socket can be given just this port and meet itself.
    bool met_itself() const { return self == peer; }
};

// False when the connection is not one any more.
bool ends_of(SocketNumber connection, TcpEnds* ends);

} // namespace ipc
