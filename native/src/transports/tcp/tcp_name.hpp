#pragma once

#include "core/address.hpp"

#include <cstdint>
#include <string>

namespace ipc {

// The name of a tcp address taken apart: port, host:port or [ipv6]:port. A port alone is on 127.0.0.1.
struct TcpName {
    std::string host;
    uint16_t port = 0;
    std::string before_port; // what stands before the port in the name, to write the name with another port

    std::string with_port(uint16_t other) const { return before_port + std::to_string(other); }
};

// IPC_BAD_ADDRESS if it is none of these.
Status parse_tcp_name(const Address& address, TcpName* name);

} // namespace ipc
