#include "msrpc/client_win32.hpp"

#include "core/plain_name.hpp"
#include "msrpc/link_win32.hpp"

namespace ipc::msrpc {
namespace {

class RpcClient final : public CallClient {
  public:
    explicit RpcClient(std::shared_ptr<Link> link) : link_(std::move(link)) {}
    ~RpcClient() override { link_->close(); }

    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply) override {
        return link_->exchange(kind, id, bytes, length, deadline, reply);
    }
    void drop_reply() override { link_->drop_reply(); }
    void close() override { link_->close(); }

  private:
    const std::shared_ptr<Link> link_;
};

} // namespace

Status connect(const Address& address, Sequence sequence, const Deadline& deadline, FrameChannel** channel) {
    if (Status s = check_plain_name(address)) return s;
    Meeting meeting{};
    if (Status s = find_meeting(address, sequence, &meeting)) return s;
    auto link = std::make_shared<Link>(std::move(meeting), address.text());
    auto client = std::make_unique<RpcClient>(link);
    if (Status s = link->open(deadline)) return s;
    *channel = make_call_channel(std::move(client), address.limit(), address.text()).release();
    return IPC_OK;
}

} // namespace ipc::msrpc
