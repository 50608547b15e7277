#include "transports/tcp/loopback_owner_posix.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace ipc {
namespace {

// One line of /proc/net/tcp or tcp6.
struct Row {
    TcpEnd local;
    TcpEnd remote;
    unsigned state;
    uid_t user;
    unsigned long inode; // 0: no process has it, or not yet
};

// Linux include/net/tcp_states.h
constexpr unsigned established = 1;
constexpr unsigned close_wait = 8;
constexpr unsigned listening = 10;

bool is_mapped(const std::array<uint8_t, 16>& address) {
    constexpr std::array<uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(prefix.begin(), prefix.end(), address.begin());
}

// Linux prints each 32-bit word of an address in hexadecimal as a number, though it lies in memory in network order.
bool parse_end(const char* hex, TcpEnd* end) {
    const size_t digits = std::strcspn(hex, ":");
    unsigned port = 0;
    if ((digits != 8 && digits != 32) || std::sscanf(hex + digits, ":%4X", &port) != 1) return false;
    const size_t words = digits / 8;
    if (words == 1) end->address[10] = end->address[11] = 0xff;
    for (size_t i = 0; i < words; ++i) {
        uint32_t word = 0;
        if (std::sscanf(hex + 8 * i, "%8X", &word) != 1) return false;
        std::memcpy(end->address.data() + 16 - 4 * (words - i), &word, sizeof word);
    }
    end->port = static_cast<uint16_t>(port);
    return true;
}

bool parse_row(const char* line, Row* row) {
    char local[64];
    char remote[64];
    *row = {};
    return std::sscanf(line, " %*d: %63s %63s %X %*s %*s %*s %u %*d %lu", local, remote, &row->state, &row->user,
                       &row->inode) == 5 &&
           parse_end(local, &row->local) && parse_end(remote, &row->remote);
}

template <class Visit>
void for_each_row(Visit visit) {
    for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
        char line[512];
        Row row;
        while (file && std::fgets(line, sizeof line, file.get()) != nullptr)
            if (parse_row(line, &row)) visit(row);
    }
}

struct Ends {
    TcpEnd self;
    TcpEnd peer;
};

bool ends_of(int connection, Ends* ends) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(connection, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
    ends->self = TcpEnd::of(address);
    length = sizeof address;
    if (getpeername(connection, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
    ends->peer = TcpEnd::of(address);
    return true;
}

// Who owns the other end, as far as one look tells.
std::optional<uid_t> find_owner(const Ends& ends, TcpPeer peer) {
    std::optional<uid_t> connected;
    std::optional<uid_t> listener;
    for_each_row([&](const Row& row) {
        if (row.inode == 0) return;
        if (row.local == ends.peer && row.remote == ends.self) connected = row.user;
        const bool could_accept = row.state == listening && row.local.port == ends.peer.port &&
                                  (row.local.is_any() || row.local == ends.peer);
        // Of several listeners on the port, one of another user's is enough to be careful.
        if (could_accept && listener.value_or(geteuid()) == geteuid()) listener = row.user;
    });
    return connected || peer == TcpPeer::client ? connected : listener;
}

bool has_ended(int connection) {
    char byte;
    const ssize_t count = recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
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

Status check_loopback_peer(int connection, TcpPeer peer, const std::string& address) {
    const char* const who = peer == TcpPeer::client ? "client" : "server";
    Ends ends;
    // The file is not a snapshot: a socket can be missed while others come and go.
    for (int attempt = 0; attempt < 3 && ends_of(connection, &ends); ++attempt) {
        const std::optional<uid_t> owner = find_owner(ends, peer);
        if (owner == geteuid()) return IPC_OK;
        if (owner)
            return fail(IPC_NO_PERMISSION,
                        "the %s at %s belongs to user %u, not to this one: run both as the same user, or "
                        "let anybody connect with users=any",
                        who, address.c_str(), *owner);
    }
    if (peer == TcpPeer::server && has_ended(connection))
        return fail(IPC_NO_SERVER, "the server at %s ended before it accepted this client: start it and connect again",
                    address.c_str());
    return fail(IPC_NO_PERMISSION, "nobody owns the %s's end of the connection at %s, so its user cannot be checked",
                who, address.c_str());
}

void wait_until_accepted(int connection, int limit_ms) {
    Ends ends;
    if (!ends_of(connection, &ends)) return;
    for (int waited_ms = 0; waited_ms < limit_ms; ++waited_ms) {
        bool waiting = false;
        for_each_row([&](const Row& row) {
            // In any other state without an owner it has been accepted and closed.
            if (row.local == ends.peer && row.remote == ends.self)
                waiting = row.inode == 0 && (row.state == established || row.state == close_wait);
        });
        if (!waiting) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace ipc
