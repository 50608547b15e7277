#include "transports/tcp/proc_tcp_table.hpp"

#include <cerrno>
#include <unistd.h>

namespace ipc {

void for_each_tcp_row(const std::function<void(const TcpRow&)>& visit) {
    for_each_proc_row("/proc", visit);
}

Whose whose(const TcpRow& row) {
    if (!row.owned) return Whose::nobody;
    return row.owner == geteuid() ? Whose::ours : Whose::others;
}

std::string owner_text(const TcpRow& row) {
    return "user " + std::to_string(row.owner);
}

bool has_ended(SocketNumber connection) {
    char byte;
    const ssize_t count = recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

} // namespace ipc
