#include "posix/frame_listener.hpp"

#include "posix/local_socket.hpp"

#include <memory>
#include <utility>

namespace ipc::posix {
namespace {

class Listener final : public FrameListener {
  public:
    Listener(const Address& address, Welcome welcome, std::unique_ptr<LocalListener> listener)
        : address_(address), welcome_(std::move(welcome)), listener_(std::move(listener)) {}

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        return listener_->accept(
            deadline, [&](Descriptor* connection) { return welcome_(address_, std::move(*connection), channel); });
    }
    void close() override { listener_->close(); }
    const char* address() const override { return address_.text().c_str(); }

  private:
    const Address address_;
    const Welcome welcome_;
    const std::unique_ptr<LocalListener> listener_;
};

} // namespace

Status listen_local(const Address& address, const LocalName& name, Welcome welcome, FrameListener** listener) {
    std::unique_ptr<LocalListener> made;
    if (Status s = LocalListener::open(name, &made)) return s;
    *listener = new Listener(address, std::move(welcome), std::move(made));
    return IPC_OK;
}

} // namespace ipc::posix
