#include "posix/local_stream.hpp"

#include "core/frame_stream.hpp"
#include "posix/frame_listener.hpp"
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
    void peer_gone(const Deadline& deadline) override { forget_dead_server(server_path_, socket(), deadline); }

  private:
    std::string server_path_;
};

} // namespace

Status listen_frames(const Address& address, const LocalName& name, FrameListener** listener) {
    const auto welcome = [](const Address& of, Descriptor connection, FrameChannel** channel) -> Status {
        *channel = new FrameStream(std::make_unique<SocketStream>(std::move(connection)), of.limit(), of.text());
        return IPC_OK;
    };
    return listen_local(address, name, welcome, listener);
}

Status connect_frames(const Address& address, const LocalName& name, const Deadline& deadline, FrameChannel** channel) {
    Descriptor connection;
    if (Status status = connect_local(name, deadline, &connection); status != IPC_OK) return status;
    auto stream = std::make_unique<ClientStream>(std::move(connection), name.path);
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

} // namespace ipc::posix
