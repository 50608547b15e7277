#include "posix/local_stream.hpp"

#include "core/frame_stream.hpp"
#include "posix/local_socket.hpp"
#include "posix/socket_stream.hpp"

#include <memory>
#include <string>
#include <utility>

namespace ipc::posix {
namespace {

// A client's connection: it tidies up after a server that was killed.
class ClientStream final : public SocketStream {
  public:
    ClientStream(Descriptor socket, std::string server_path)
        : SocketStream(std::move(socket)), server_path_(std::move(server_path)) {}
    void peer_gone() override { forget_dead_server(server_path_, socket()); }

  private:
    std::string server_path_;
};

class Listener final : public FrameListener {
  public:
    Listener(const Address& address, std::unique_ptr<LocalListener> listener)
        : address_(address.text()), limit_(address.limit()), listener_(std::move(listener)) {}

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        Descriptor client;
        if (Status status = listener_->accept(deadline, &client); status != IPC_OK) return status;
        *channel = new FrameStream(std::make_unique<SocketStream>(std::move(client)), limit_, address_);
        return IPC_OK;
    }
    void close() override { listener_->close(); }
    const char* address() const override { return address_.c_str(); }

  private:
    const std::string address_;
    const size_t limit_;
    const std::unique_ptr<LocalListener> listener_;
};

} // namespace

Status listen_frames(const Address& address, const LocalName& name, FrameListener** listener) {
    std::unique_ptr<LocalListener> made;
    if (Status status = LocalListener::open(name, &made); status != IPC_OK) return status;
    *listener = new Listener(address, std::move(made));
    return IPC_OK;
}

Status connect_frames(const Address& address, const LocalName& name, const Deadline& deadline, FrameChannel** channel) {
    Descriptor connection;
    if (Status status = connect_local(name, deadline, &connection); status != IPC_OK) return status;
    auto stream = std::make_unique<ClientStream>(std::move(connection), name.path);
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

} // namespace ipc::posix
