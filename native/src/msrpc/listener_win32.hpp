#pragma once

#include "calls/call_listener.hpp"
#include "core/address.hpp"
#include "msrpc/handshake_win32.hpp"

namespace ipc::msrpc {

Status listen(const Address& address, Sequence sequence, FrameListener** listener);

// One name: its handshake section, and the clients that came through it.
class RpcListener final : public CallListener {
  public:
    explicit RpcListener(const Address& address) : CallListener(address.text()), address_(address) {}
    ~RpcListener() override { close(); }

    Status open(Sequence sequence);
    const Handshake& handshake() const { return handshake_; }
    // A new client, which has shown the proof; its session unless it is refused.
    Status welcome(std::shared_ptr<CallSession>* session);

  private:
    void stop_listening() override;

    const Address address_;
    Handshake handshake_{};
    HandshakeSection place_;
};

} // namespace ipc::msrpc
