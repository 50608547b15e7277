#include "msrpc/listener_win32.hpp"

#include "core/plain_name.hpp"
#include "msrpc/runtime_win32.hpp"

namespace ipc::msrpc {

Status listen(const Address& address, Sequence sequence, FrameListener** listener) {
    if (Status s = check_plain_name(address)) return s;
    auto made = std::make_unique<RpcListener>(address);
    if (Status s = made->open(sequence)) return s;
    *listener = made.release();
    return IPC_OK;
}

Status RpcListener::open(Sequence sequence) {
    handshake_.sequence = sequence;
    if (Status s = fill_randomly(handshake_.proof.data(), handshake_.proof.size())) return s;
    if (Status s = fill_randomly(handshake_.answer.data(), handshake_.answer.size())) return s;
    if (Status s = Runtime::instance().endpoint(sequence, &handshake_.endpoint)) return s;
    // Clients may come as soon as the place is there.
    Runtime::instance().add(this);
    return HandshakeSection::make(address_, handshake_, &place_);
}

Status RpcListener::welcome(std::shared_ptr<CallSession>* session) {
    *session = std::make_shared<CallSession>(address_.limit(), address_.text());
    return admit(*session);
}

// The name first, so that who looks for it now finds nobody; then who has found it before.
void RpcListener::stop_listening() {
    place_.leave();
    Runtime::instance().remove(this);
}

} // namespace ipc::msrpc
