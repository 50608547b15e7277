#include "transports/tcp/tcp_place.hpp"

#include <algorithm>
#include <string>

#if defined(_WIN32)
#    include "win32/error_text.hpp"
#else
#    include <netdb.h>
#endif

namespace ipc {
namespace {

// What the resolver says of an error of getaddrinfo().
std::string resolver_text(int error) {
#if defined(_WIN32)
    return win32::error_text(static_cast<unsigned long>(error));
#else
    return gai_strerror(error);
#endif
}

} // namespace

Status resolve(const Address& address, const TcpName& name, Status failure, std::vector<Place>* places) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(name.host.c_str(), std::to_string(name.port).c_str(), &hints, &found);
    if (error != 0)
        return fail(failure, "cannot find the host of %s: %s; check its name", address.text().c_str(),
                    resolver_text(error).c_str());
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        Place place;
        place.length = static_cast<socklen_t>(one->ai_addrlen);
        std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                    reinterpret_cast<char*>(&place.address));
        places->push_back(place);
    }
    freeaddrinfo(found);
    std::stable_partition(places->begin(), places->end(),
                          [](const Place& place) { return place.address.ss_family == AF_INET; });
    return IPC_OK;
}

Status check_reach(const Address& address, const Place& place) {
    if (address.option("users") == "any" || TcpEnd::of(place.address).is_loopback()) return IPC_OK;
    return fail(IPC_BAD_OPTION,
                "%s leads over the network, where the peer's user cannot be checked: add users=any, or use "
                "127.0.0.1",
                address.text().c_str());
}

} // namespace ipc
