#include "transports/tcp/loopback_owner.hpp"

#include "core/deadline.hpp"

#include <chrono>
#include <optional>
#include <thread>

namespace ipc {
namespace {

// The table is no snapshot: a socket can be missed while others come and go, and again while many do.
constexpr int most_looks = 10;
constexpr int looks_at_once = 3;

void pause_before(int look) {
    if (look >= looks_at_once) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The socket that says whose a server is, as far as one look through the table tells.
std::optional<TcpRow> find_server_in_table(const TcpEnds& ends) {
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
    return connected ? connected : listener;
}

std::optional<TcpRow> find_server(const TcpEnds& ends, SocketQuery& query) {
    TcpRow row;
    const Answer answer = query.ask(ends.peer, ends.self, &row);
    if (answer == Answer::unknown) return find_server_in_table(ends);
    if (answer == Answer::found && row.owned) return row;
    TcpEnd anybody = ends.self;
    anybody.port = 0;
    if (query.ask(ends.peer, anybody, &row) == Answer::found && row.owned && row.state == TcpState::listening)
        return row;
    return std::nullopt;
}

// A connection whose client is still to be found.
struct Open {
    size_t index;
    TcpEnds ends;
};

// Takes the clients out of `open` that one look through the table tells about.
void find_clients_in_table(std::vector<Open>* open, std::vector<Client>* clients) {
    for_each_tcp_row([&](const TcpRow& row) {
        if (!row.owned) return;
        std::erase_if(*open, [&](const Open& one) {
            if (row.local != one.ends.peer || row.remote != one.ends.self) return false;
            if (whose(row) == Whose::ours) (*clients)[one.index] = Client::ours;
            return true;
        });
    });
}

} // namespace

Status check_loopback_server(SocketNumber connection, const std::string& address) {
    SocketQuery query;
    TcpEnds ends;
    for (int look = 0; look < most_looks && ends_of(connection, &ends); ++look) {
        pause_before(look);
        const std::optional<TcpRow> found = find_server(ends, query);
        const Whose owner = found ? whose(*found) : Whose::nobody;
        if (owner == Whose::ours) return IPC_OK;
        if (owner == Whose::others)
            return fail(IPC_NO_PERMISSION,
                        "the server at %s belongs to %s, not to this one: run both as the same user, or "
                        "let anybody connect with users=any",
                        address.c_str(), owner_text(*found).c_str());
        if (look + 1 >= looks_at_once && has_ended(connection)) break;
    }
    if (has_ended(connection))
        return fail(IPC_NO_SERVER, "the server at %s ended before it accepted this client: start it and connect again",
                    address.c_str());
    if (const int error = query.shortage())
        return fail_system(IPC_SYSTEM, error, "cannot find out whose the server at %s is", address.c_str());
    return fail(IPC_NO_PERMISSION,
                "nobody owns the server's end of the connection at %s, so its user cannot be checked", address.c_str());
}

std::vector<Client> check_loopback_clients(const std::vector<SocketNumber>& connections, SocketQuery& query) {
    std::vector<Client> clients(connections.size(), Client::not_ours);
    std::vector<Open> open;
    for (size_t i = 0; i < connections.size(); ++i) {
        TcpEnds ends;
        TcpRow row;
        if (!ends_of(connections[i], &ends)) continue;
        const Answer answer = query.ask(ends.peer, ends.self, &row);
        if (answer == Answer::unknown) open.push_back({i, ends});
        // What has no owner has been closed, or the system would know it.
        if (answer == Answer::found && whose(row) == Whose::ours) clients[i] = Client::ours;
    }
    for (int look = 0; look < most_looks && !open.empty(); ++look) {
        pause_before(look);
        std::erase_if(open, [&](const Open& one) { return has_ended(connections[one.index]); });
        if (!open.empty()) find_clients_in_table(&open, &clients);
    }
    return clients;
}

void wait_until_admitted(SocketNumber connection, int limit_ms) {
    const Deadline deadline(limit_ms);
    SocketQuery query;
    TcpEnds ends;
    if (!ends_of(connection, &ends)) return;
    while (!deadline.expired()) {
        bool waiting = false;
        // In any other state it has been accepted and closed.
        const auto look = [&](const TcpRow& row) {
            const bool admitted = row.owned && row.timed;
            waiting = !admitted && (row.state == TcpState::established || row.state == TcpState::close_wait);
        };
        TcpRow asked;
        const Answer answer = query.ask(ends.peer, ends.self, &asked);
        if (answer == Answer::found) look(asked);
        if (answer == Answer::unknown)
            for_each_tcp_row([&](const TcpRow& row) {
                if (row.local == ends.peer && row.remote == ends.self) look(row);
            });
        if (!waiting) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace ipc
