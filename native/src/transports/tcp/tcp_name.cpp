#include "transports/tcp/tcp_name.hpp"

#include "core/registry.hpp"

#include <string_view>

namespace ipc {
namespace {

// "" alone, "host:" or "[ipv6]:" -> the host.
bool parse_host(std::string_view before_port, std::string* host) {
    if (before_port.empty()) {
        *host = "127.0.0.1";
        return true;
    }
    before_port.remove_suffix(1);
    const bool bracketed = before_port.starts_with('[') && before_port.ends_with(']') && before_port.size() > 2;
    if (bracketed) before_port = before_port.substr(1, before_port.size() - 2);
    *host = before_port;
    // Colons belong to IPv6 addresses, which need the brackets: else nobody can tell where the port begins.
    return !host->empty() && host->find_first_of("[]/ ") == std::string::npos &&
           bracketed == (host->find(':') != std::string::npos);
}

} // namespace

Status parse_tcp_name(const Address& address, TcpName* name) {
    const std::string_view text = address.name();
    const size_t colon = text.rfind(':');
    const size_t port_at = colon == std::string_view::npos ? 0 : colon + 1;
    uint64_t port = 0;
    name->before_port = text.substr(0, port_at);
    if (!parse_host(name->before_port, &name->host) || !parse_count(text.substr(port_at), &port) || port > UINT16_MAX)
        return fail(IPC_BAD_ADDRESS,
                    "'%.200s' is not a tcp address: write tcp://port, tcp://host:port or tcp://[ipv6]:port",
                    address.text().c_str());
    name->port = static_cast<uint16_t>(port);
    return IPC_OK;
}

} // namespace ipc
