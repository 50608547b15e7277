#include "transports/tcp/tcp_end.hpp"

#include <algorithm>
#include <cstring>

namespace ipc {
namespace {

bool is_mapped(const std::array<uint8_t, 16>& address) {
    constexpr std::array<uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(prefix.begin(), prefix.end(), address.begin());
}

} // namespace

TcpEnd TcpEnd::of(const sockaddr_storage& address) {
    TcpEnd end;
    if (address.ss_family == AF_INET6) {
        const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
        std::memcpy(end.address.data(), &six.sin6_addr, 16);
        end.port = ntohs(six.sin6_port);
    } else {
        const auto& four = reinterpret_cast<const sockaddr_in&>(address);
        end.address[10] = end.address[11] = 0xff;
        std::memcpy(end.address.data() + 12, &four.sin_addr, 4);
        end.port = ntohs(four.sin_port);
    }
    return end;
}

bool TcpEnd::is_loopback() const {
    constexpr std::array<uint8_t, 16> six{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return address == six || (is_mapped(address) && address[12] == 127);
}

bool TcpEnd::is_any() const {
    const auto rest = address.begin() + (is_mapped(address) ? 12 : 0);
    return std::all_of(rest, address.end(), [](uint8_t byte) { return byte == 0; });
}

bool ends_of(SocketNumber connection, TcpEnds* ends) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(connection, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
    ends->self = TcpEnd::of(address);
    length = sizeof address;
    if (getpeername(connection, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
    ends->peer = TcpEnd::of(address);
    return true;
}

} // namespace ipc
