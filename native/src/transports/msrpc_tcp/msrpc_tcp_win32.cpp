#include "core/transport.hpp"
#include "msrpc/client_win32.hpp"
#include "msrpc/listener_win32.hpp"

namespace ipc {
namespace {

Status listen_tcp(const Address& address, FrameListener** listener) {
    return msrpc::listen(address, msrpc::Sequence::tcp, listener);
}

Status connect_tcp(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    return msrpc::connect(address, msrpc::Sequence::tcp, deadline, channel);
}

} // namespace

extern const Transport transport_msrpc_tcp{listen_tcp, connect_tcp};

} // namespace ipc
