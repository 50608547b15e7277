// Windows tells the process that owns a socket, and the process its user. Wine 8 tells no process; but there the system under
// it, whose users are the ones that count, has the table of Linux.
#include "transports/tcp/proc_tcp_table.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"
#include "win32/wine.hpp"

#include <cstdio>
#include <cstring>
#include <iphlpapi.h>
#include <memory>
#include <vector>
#include <windows.h>

namespace ipc {
namespace {

// Linux' /proc as programs under Wine reach it.
constexpr const char* proc_under_wine = "\\\\?\\unix/proc";

// The effective user of this process in the system under Wine.
bool user_under_wine(unsigned long* user) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(
        std::fopen((std::string(proc_under_wine) + "/self/status").c_str(), "r"), std::fclose);
    char line[256];
    while (file && std::fgets(line, sizeof line, file.get()) != nullptr)
        if (std::sscanf(line, "Uid: %*u %lu", user) == 1) return true;
    return false;
}

TcpState state_of(DWORD state) {
    switch (state) {
    case MIB_TCP_STATE_ESTAB:
        return TcpState::established;
    case MIB_TCP_STATE_CLOSE_WAIT:
        return TcpState::close_wait;
    case MIB_TCP_STATE_LISTEN:
        return TcpState::listening;
    default:
        return TcpState::other;
    }
}

uint16_t port_of(DWORD port) {
    return ntohs(static_cast<uint16_t>(port));
}

TcpEnd end_of(DWORD address, DWORD port) {
    TcpEnd end;
    end.address[10] = end.address[11] = 0xff;
    std::memcpy(end.address.data() + 12, &address, 4);
    end.port = port_of(port);
    return end;
}

TcpEnd end_of(const UCHAR (&address)[16], DWORD port) {
    TcpEnd end;
    std::memcpy(end.address.data(), address, 16);
    end.port = port_of(port);
    return end;
}

template <class Row>
TcpRow row_of(const Row& row, TcpEnd local, TcpEnd remote) {
    // Timers are not told. A connection counts as the listener's from the beginning, so nobody waits for one.
    const bool owned = row.dwOwningPid != 0;
    return {local, remote, state_of(row.dwState), row.dwOwningPid, owned, owned};
}

// The system's table of one family; empty when it cannot be had.
std::vector<char> read_table(ULONG family) {
    std::vector<char> table;
    DWORD size = 64 * 1024;
    DWORD error = ERROR_INSUFFICIENT_BUFFER;
    for (int attempt = 0; attempt < 5 && error == ERROR_INSUFFICIENT_BUFFER; ++attempt) {
        table.resize(size);
        error = GetExtendedTcpTable(table.data(), &size, FALSE, family, TCP_TABLE_OWNER_PID_ALL, 0);
    }
    if (error != NO_ERROR) table.clear();
    return table;
}

} // namespace

void for_each_tcp_row(const std::function<void(const TcpRow&)>& visit) {
    if (win32::under_wine()) {
        for_each_proc_row(proc_under_wine, visit);
        return;
    }
    if (const auto memory = read_table(AF_INET); !memory.empty()) {
        const auto& table = *reinterpret_cast<const MIB_TCPTABLE_OWNER_PID*>(memory.data());
        for (DWORD i = 0; i < table.dwNumEntries; ++i) {
            const MIB_TCPROW_OWNER_PID& row = table.table[i];
            visit(row_of(row, end_of(row.dwLocalAddr, row.dwLocalPort), end_of(row.dwRemoteAddr, row.dwRemotePort)));
        }
    }
    if (const auto memory = read_table(AF_INET6); !memory.empty()) {
        const auto& table = *reinterpret_cast<const MIB_TCP6TABLE_OWNER_PID*>(memory.data());
        for (DWORD i = 0; i < table.dwNumEntries; ++i) {
            const MIB_TCP6ROW_OWNER_PID& row = table.table[i];
            visit(row_of(row, end_of(row.ucLocalAddr, row.dwLocalPort), end_of(row.ucRemoteAddr, row.dwRemotePort)));
        }
    }
}

// Windows has only the whole table.
struct SocketQuery::System {};
SocketQuery::SocketQuery() = default;
SocketQuery::~SocketQuery() = default;
Answer SocketQuery::ask(const TcpEnd&, const TcpEnd&, TcpRow*) {
    return Answer::unknown;
}
bool SocketQuery::answers() const {
    return false;
}
int SocketQuery::shortage() const {
    return 0;
}

Whose whose(const TcpRow& row) {
    if (!row.owned) return Whose::nobody;
    if (win32::under_wine()) {
        unsigned long user = 0;
        return user_under_wine(&user) && user == row.owner ? Whose::ours : Whose::others;
    }
    win32::User self;
    win32::User owner;
    if (!win32::user_of_process(row.owner, &owner)) return Whose::nobody;
    return win32::this_user(&self) == IPC_OK && self == owner ? Whose::ours : Whose::others;
}

std::string owner_text(const TcpRow& row) {
    win32::User owner;
    if (win32::under_wine() || !win32::user_of_process(row.owner, &owner)) return "user " + std::to_string(row.owner);
    return "user " + win32::to_utf8(owner.text());
}

// Our sockets never wait there.
bool has_ended(SocketNumber connection) {
    char byte;
    const int count = recv(connection, &byte, 1, MSG_PEEK);
    return count == 0 || (count < 0 && WSAGetLastError() != WSAEWOULDBLOCK);
}

} // namespace ipc
