#include "shared_memory/rendezvous.hpp"
#include "win32/local_pipe.hpp"

namespace ipc::shared_memory {
namespace {

class PipeListener final : public FrameListener {
  public:
    PipeListener(const Form& form, const Address& address) : form_(form), address_(address) {}

    Status open() {
        win32::PipeName name;
        if (Status s = win32::private_pipe_name(address_, form_.name_prefix, &name)) return s;
        return win32::LocalPipeListener::open(name, win32::PipeMode::byte, &listener_);
    }

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        while (true) {
            win32::Handle connection;
            if (Status s = listener_->accept(deadline, &connection)) return s;
            Link* link = nullptr;
            const Status offered =
                Link::offer(connection.release(), form_.layout, form_.slot_count(address_), form_.data_bytes(address_),
                            wait_policy(address_), &link, form_.memory_options(address_));
            if (offered == IPC_PEER_CLOSED) continue; // it left again, which is no failure of the listener
            if (offered != IPC_OK) return offered;
            link->set_address(address_.text());
            *channel = form_.make_channel(std::unique_ptr<Link>(link), address_.limit());
            return IPC_OK;
        }
    }

    void close() override { listener_->close(); }
    const char* address() const override { return address_.text().c_str(); }

  private:
    const Form& form_;
    Address address_;
    std::unique_ptr<win32::LocalPipeListener> listener_;
};

} // namespace

Status listen(const Form& form, const Address& address, FrameListener** listener) {
    auto made = std::make_unique<PipeListener>(form, address);
    if (Status s = made->open()) return s;
    *listener = made.release();
    return IPC_OK;
}

Status connect(const Form& form, const Address& address, const Deadline& deadline, FrameChannel** channel) {
    win32::PipeName name;
    win32::Handle connection;
    if (Status s = win32::private_pipe_name(address, form.name_prefix, &name)) return s;
    if (Status s = win32::connect_local_pipe(name, win32::PipeMode::byte, deadline, &connection)) return s;
    Link* link = nullptr;
    if (Status s = Link::take_up(connection.release(), form.layout, wait_policy(address), {}, deadline, &link,
                                 form.memory_options(address)))
        return s;
    link->set_address(address.text());
    *channel = form.make_channel(std::unique_ptr<Link>(link), address.limit());
    return IPC_OK;
}

} // namespace ipc::shared_memory
