#pragma once

#include "core/address.hpp"
#include "transports/tcp/tcp_end.hpp"
#include "transports/tcp/tcp_name.hpp"

#include <vector>

namespace ipc {

// A socket's address as the system takes it.
struct Place {
    sockaddr_storage address{};
    socklen_t length = 0;

    const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// The places a name stands for, at least one (`failure` if there are none), IPv4 first, so that "localhost" means the same
// to a listener and its clients.
Status resolve(const Address& address, const TcpName& name, Status failure, std::vector<Place>* places);

// Users of other machines cannot be checked: whoever lets them in must say so. IPC_BAD_OPTION.
Status check_reach(const Address& address, const Place& place);

} // namespace ipc
