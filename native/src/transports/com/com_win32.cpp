// `com`: calls to an object in the running object table, late bound; nothing is registered with the system.
#include "core/plain_name.hpp"
#include "core/transport.hpp"
#include "transports/com/client_win32.hpp"
#include "transports/com/server_win32.hpp"

namespace ipc {
namespace {

Status listen_com(const Address& address, FrameListener** listener) {
    if (Status s = check_plain_name(address); s != IPC_OK) return s;
    return com::listen(address, listener);
}

Status connect_com(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    if (Status s = check_plain_name(address); s != IPC_OK) return s;
    std::unique_ptr<CallClient> client;
    if (Status s = com::connect(address, deadline, &client); s != IPC_OK) return s;
    *channel = make_call_channel(std::move(client), address.limit(), address.text()).release();
    return IPC_OK;
}

} // namespace

extern const Transport transport_com{listen_com, connect_com};

} // namespace ipc
