#include "core/transport.hpp"
#include "msrpc/client_win32.hpp"
#include "msrpc/listener_win32.hpp"

namespace ipc {
namespace {

Status listen_np(const Address& address, FrameListener** listener) {
    return msrpc::listen(address, msrpc::Sequence::named_pipe, listener);
}

Status connect_np(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    return msrpc::connect(address, msrpc::Sequence::named_pipe, deadline, channel);
}

} // namespace

extern const Transport transport_msrpc_np{listen_np, connect_np};

} // namespace ipc
