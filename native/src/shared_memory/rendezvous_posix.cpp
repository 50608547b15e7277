#include "posix/local_socket.hpp"
#include "shared_memory/rendezvous.hpp"

namespace ipc::shared_memory {
namespace {

class Rendezvous final : public FrameListener {
  public:
    Rendezvous(const Form& form, const Address& address) : form_(form), address_(address) {}

    Status open() {
        posix::LocalName name;
        if (Status s = posix::private_name(address_, form_.name_prefix, &name)) return s;
        return posix::LocalListener::open(name, &listener_);
    }

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        posix::Descriptor connection;
        if (Status s = listener_->accept(deadline, &connection)) return s;
        Link* link = nullptr;
        if (Status s = Link::offer(connection.release(), form_.layout, form_.slot_count(address_),
                                   form_.data_bytes(address_), wait_policy(address_), &link,
                                   form_.memory_options(address_)))
            return s;
        *channel = form_.make_channel(std::unique_ptr<Link>(link), address_.limit());
        return IPC_OK;
    }

    void close() override { listener_->close(); }
    const char* address() const override { return address_.text().c_str(); }

  private:
    const Form& form_;
    Address address_;
    std::unique_ptr<posix::LocalListener> listener_;
};

} // namespace

Status listen(const Form& form, const Address& address, FrameListener** listener) {
    auto made = std::make_unique<Rendezvous>(form, address);
    if (Status s = made->open()) return s;
    *listener = made.release();
    return IPC_OK;
}

Status connect(const Form& form, const Address& address, const Deadline& deadline, FrameChannel** channel) {
    posix::LocalName name;
    posix::Descriptor connection;
    if (Status s = posix::private_name(address, form.name_prefix, &name)) return s;
    if (Status s = posix::connect_local(name, deadline, &connection)) return s;
    Link* link = nullptr;
    if (Status s = Link::take_up(connection.release(), form.layout, wait_policy(address), name.path, deadline, &link,
                               form.memory_options(address)))
        return s;
    *channel = form.make_channel(std::unique_ptr<Link>(link), address.limit());
    return IPC_OK;
}

} // namespace ipc::shared_memory
