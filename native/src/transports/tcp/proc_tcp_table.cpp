#include "transports/tcp/proc_tcp_table.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace ipc {
namespace {

// Linux prints each 32-bit word of an address in hexadecimal as a number, though it lies in memory in network order.
bool parse_end(const char* hex, TcpEnd* end) {
    const size_t digits = std::strcspn(hex, ":");
    unsigned port = 0;
    if ((digits != 8 && digits != 32) || std::sscanf(hex + digits, ":%4X", &port) != 1) return false;
    const size_t words = digits / 8;
    if (words == 1) end->address[10] = end->address[11] = 0xff;
    for (size_t i = 0; i < words; ++i) {
        unsigned word = 0;
        if (std::sscanf(hex + 8 * i, "%8X", &word) != 1) return false;
        std::memcpy(end->address.data() + 16 - 4 * (words - i), &word, sizeof word);
    }
    end->port = static_cast<uint16_t>(port);
    return true;
}

bool parse_row(const char* line, TcpRow* row) {
    char local[64];
    char remote[64];
    unsigned state = 0;
    unsigned timer = 0;
    unsigned long inode = 0; // 0: no process has it, or not yet
    *row = {};
    if (std::sscanf(line, " %*d: %63s %63s %X %*s %X:%*s %*s %lu %*d %lu", local, remote, &state, &timer, &row->owner,
                    &inode) != 6)
        return false;
    row->state = tcp_state_of_linux(state);
    row->owned = inode != 0;
    row->timed = timer != 0;
    return parse_end(local, &row->local) && parse_end(remote, &row->remote);
}

} // namespace

TcpState tcp_state_of_linux(unsigned state) {
    switch (state) { // Linux include/net/tcp_states.h
    case 1:
        return TcpState::established;
    case 8:
        return TcpState::close_wait;
    case 10:
        return TcpState::listening;
    default:
        return TcpState::other;
    }
}

void for_each_proc_row(const char* proc, const std::function<void(const TcpRow&)>& visit) {
    for (const char* name : {"/net/tcp", "/net/tcp6"}) {
        const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen((std::string(proc) + name).c_str(), "r"),
                                                         std::fclose);
        char line[512];
        TcpRow row;
        while (file && std::fgets(line, sizeof line, file.get()) != nullptr)
            if (parse_row(line, &row)) visit(row);
    }
}

} // namespace ipc
