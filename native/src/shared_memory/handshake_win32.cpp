#include "shared_memory/handshake.hpp"
#include "win32/local_pipe.hpp"

namespace ipc::shared_memory {
namespace {

class PipeListener final : public FrameListener {
  public:
    PipeListener(const TransportTraits& traits, const Address& address) : traits_(traits), address_(address) {}

    Status open() {
        win32::PipeName name;
        if (Status s = win32::private_pipe_name(address_, traits_.name_prefix, &name)) return s;
        return win32::LocalPipeListener::open(name, win32::PipeMode::byte, &listener_);
    }

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        while (true) {
            win32::Handle connection;
            if (Status s = listener_->accept(deadline, &connection)) return s;
            Segment* segment = nullptr;
            const Status offered = Segment::offer(connection.release(), traits_.layout, traits_.slot_count(address_),
                                                  traits_.data_bytes(address_), wait_policy(address_), &segment,
                                                  traits_.memory_options(address_));
            if (offered == IPC_PEER_CLOSED) continue; // it left again, which is no failure of the listener
            if (offered != IPC_OK) return offered;
            segment->set_address(address_.text());
            *channel = traits_.make_channel(std::unique_ptr<Segment>(segment), address_.limit());
            return IPC_OK;
        }
    }

    void close() override { listener_->close(); }
    const char* address() const override { return address_.text().c_str(); }

  private:
    const TransportTraits& traits_;
    Address address_;
    std::unique_ptr<win32::LocalPipeListener> listener_;
};

} // namespace

Status listen(const TransportTraits& traits, const Address& address, FrameListener** listener) {
    auto made = std::make_unique<PipeListener>(traits, address);
    if (Status s = made->open()) return s;
    *listener = made.release();
    return IPC_OK;
}

Status connect(const TransportTraits& traits, const Address& address, const Deadline& deadline,
               FrameChannel** channel) {
    win32::PipeName name;
    win32::Handle connection;
    if (Status s = win32::private_pipe_name(address, traits.name_prefix, &name)) return s;
    if (Status s = win32::connect_local_pipe(name, win32::PipeMode::byte, deadline, &connection)) return s;
    Segment* segment = nullptr;
    if (Status s = Segment::take_up(connection.release(), traits.layout, wait_policy(address), {}, deadline, &segment,
                                    traits.memory_options(address)))
        return s;
    segment->set_address(address.text());
    *channel = traits.make_channel(std::unique_ptr<Segment>(segment), address.limit());
    return IPC_OK;
}

} // namespace ipc::shared_memory
