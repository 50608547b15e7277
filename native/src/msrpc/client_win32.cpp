#include "msrpc/client_win32.hpp"

#include "core/plain_name.hpp"
#include "msrpc/connection_win32.hpp"

namespace ipc::msrpc {
namespace {

class RpcClient final : public CallClient {
  public:
    explicit RpcClient(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
    ~RpcClient() override { connection_->close(); }

    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply) override {
        return connection_->exchange(kind, id, bytes, length, deadline, reply);
    }
    void drop_reply() override { connection_->drop_reply(); }
    void close() override { connection_->close(); }

  private:
    const std::shared_ptr<Connection> connection_;
};

} // namespace

Status connect(const Address& address, Sequence sequence, const Deadline& deadline, FrameChannel** channel) {
    if (Status s = check_plain_name(address)) return s;
    Handshake handshake{};
    if (Status s = find_handshake(address, sequence, &handshake)) return s;
    auto connection = std::make_shared<Connection>(std::move(handshake), address.text());
    auto client = std::make_unique<RpcClient>(connection);
    if (Status s = connection->open(deadline)) return s;
    *channel = make_call_channel(std::move(client), address.limit(), address.text()).release();
    return IPC_OK;
}

} // namespace ipc::msrpc
