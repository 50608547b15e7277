// `tcp`: frames over TCP. Over loopback both ends check each other's user, as the other transports do.
#include "core/transport.hpp"
#include "transports/tcp/loopback_owner.hpp"
#include "transports/tcp/tcp_system.hpp"

#include <vector>

namespace ipc {
namespace {

Status listen_tcp(const Address& address, FrameListener** listener) {
    TcpName name;
    std::vector<Place> places;
    if (Status status = parse_tcp_name(address, &name); status != IPC_OK) return status;
    if (Status status = tcp::start_sockets(); status != IPC_OK) return status;
    if (Status status = resolve(address, name, IPC_BAD_ADDRESS, &places); status != IPC_OK) return status;
    if (Status status = check_reach(address, places.front()); status != IPC_OK) return status;
    return tcp::open_listener(address, name, places.front(), listener);
}

Status connect_tcp(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    TcpName name;
    std::vector<Place> places;
    if (Status status = parse_tcp_name(address, &name); status != IPC_OK) return status;
    if (name.port == 0)
        return fail(IPC_BAD_ADDRESS, "%s has port 0, which only a listener can use: connect to the port it was given",
                    address.text().c_str());
    if (Status status = tcp::start_sockets(); status != IPC_OK) return status;
    if (Status status = resolve(address, name, IPC_NO_SERVER, &places); status != IPC_OK) return status;
    tcp::SystemError error = tcp::nobody_listens;
    for (const Place& place : places) {
        if (Status status = check_reach(address, place); status != IPC_OK) return status;
        tcp::Socket connection;
        error = tcp::connect_within(place, deadline, &connection);
        TcpEnds ends;
        if (error == 0 && ends_of(connection.get(), &ends) && ends.met_itself()) error = tcp::nobody_listens;
        if (error != 0) continue;
        if (address.option("users") == "same")
            if (Status status = check_loopback_server(connection.get(), address.text()); status != IPC_OK)
                return status;
        return tcp::open_client(std::move(connection), TcpEnd::of(place.address).is_loopback(), address, channel);
    }
    return tcp::connect_failed(address, error);
}

} // namespace

extern const Transport transport_tcp{listen_tcp, connect_tcp};

} // namespace ipc
