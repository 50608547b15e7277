#include "core/transport.hpp"
#include "msrpc/client_win32.hpp"
#include "msrpc/listener_win32.hpp"

namespace ipc {
namespace {

Status listen_alpc(const Address& address, FrameListener** listener) {
    return msrpc::listen(address, msrpc::Sequence::alpc, listener);
}

Status connect_alpc(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    return msrpc::connect(address, msrpc::Sequence::alpc, deadline, channel);
}

} // namespace

extern const Transport transport_msrpc_alpc{listen_alpc, connect_alpc};

} // namespace ipc
