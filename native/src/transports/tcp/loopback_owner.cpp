#include "transports/tcp/loopback_owner.hpp"

#include "transports/tcp/tcp_table.hpp"

#include <chrono>
#include <optional>
#include <thread>

namespace ipc {
namespace {

// The socket that says whose the other end is, as far as one look tells.
std::optional<TcpRow> find_owned(const TcpEnds& ends, TcpPeer peer) {
    std::optional<TcpRow> connected;
    std::optional<TcpRow> listener;
    for_each_tcp_row([&](const TcpRow& row) {
        if (!row.owned) return;
        if (row.local == ends.peer && row.remote == ends.self) connected = row;
        const bool could_accept = row.state == TcpState::listening && row.local.port == ends.peer.port &&
                                  (row.local.is_any() || row.local == ends.peer);
        // Of several listeners on the port, one of another user's is enough to be careful.
        if (could_accept && (!listener || whose(*listener) == Whose::ours)) listener = row;
    });
    return connected || peer == TcpPeer::client ? connected : listener;
}

} // namespace

Status check_loopback_peer(SocketNumber connection, TcpPeer peer, const std::string& address) {
    const char* const who = peer == TcpPeer::client ? "client" : "server";
    TcpEnds ends;
    // The table is no snapshot: a socket can be missed while others come and go, and again while many do.
    for (int attempt = 0; attempt < 10 && ends_of(connection, &ends); ++attempt) {
        if (attempt >= 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::optional<TcpRow> found = find_owned(ends, peer);
        const Whose owner = found ? whose(*found) : Whose::nobody;
        if (owner == Whose::ours) return IPC_OK;
        if (owner == Whose::others)
            return fail(IPC_NO_PERMISSION,
                        "the %s at %s belongs to %s, not to this one: run both as the same user, or "
                        "let anybody connect with users=any",
                        who, address.c_str(), owner_text(*found).c_str());
    }
    if (peer == TcpPeer::server && has_ended(connection))
        return fail(IPC_NO_SERVER, "the server at %s ended before it accepted this client: start it and connect again",
                    address.c_str());
    return fail(IPC_NO_PERMISSION, "nobody owns the %s's end of the connection at %s, so its user cannot be checked",
                who, address.c_str());
}

void wait_until_accepted(SocketNumber connection, int limit_ms) {
    TcpEnds ends;
    if (!ends_of(connection, &ends)) return;
    for (int waited_ms = 0; waited_ms < limit_ms; ++waited_ms) {
        bool waiting = false;
        for_each_tcp_row([&](const TcpRow& row) {
            // In any other state without an owner it has been accepted and closed.
            if (row.local == ends.peer && row.remote == ends.self)
                waiting = !row.owned && (row.state == TcpState::established || row.state == TcpState::close_wait);
        });
        if (!waiting) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace ipc
