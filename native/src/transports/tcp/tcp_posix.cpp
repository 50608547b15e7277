// `tcp` on POSIX.
#include "core/frame_stream.hpp"
#include "posix/accept.hpp"
#include "posix/poll.hpp"
#include "posix/socket_stream.hpp"
#include "transports/tcp/checked_client_stream.hpp"
#include "transports/tcp/loopback_owner.hpp"
#include "transports/tcp/tcp_system.hpp"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>

namespace ipc::tcp {
namespace {

void set_option(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

void prepare(int socket) {
    // A frame is complete when it is sent: nothing is gained by waiting for more.
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    // A machine that vanished without a word is given up after some 25 s, busy or idle.
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

class TcpListener final : public FrameListener {
  public:
    TcpListener(const Address& address) : limit_(address.limit()), checks_users_(address.option("users") == "same") {}
    ~TcpListener() override { TcpListener::close(); }

    Status open(const Address& address, const TcpName& name, const Place& place);
    Status accept(const Deadline& deadline, FrameChannel** channel) override;
    void close() override;
    const char* address() const override { return address_.c_str(); }

  private:
    const size_t limit_;
    const bool checks_users_;
    std::string address_;
    Socket socket_;
    posix::Interrupt interrupt_;
};

Status TcpListener::open(const Address& address, const TcpName& name, const Place& place) {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    Socket made(socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) return fail_system(IPC_SYSTEM, errno, "cannot make a socket for %s", address.text().c_str());
    // Connections of an earlier listener that linger in the system must not keep the port.
    set_option(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    int error = bind(made.get(), place.generic(), place.length) == 0 ? 0 : errno;
    if (error == 0 && listen(made.get(), SOMAXCONN) != 0) error = errno;
    if (error == EADDRINUSE)
        return fail(IPC_NAME_IN_USE,
                    "cannot listen at %s: another listener has this port; close it or choose another port",
                    address.text().c_str());
    if (error == EACCES || error == EPERM)
        return fail_system(IPC_NO_PERMISSION, error, "may not listen at %s", address.text().c_str());
    if (error != 0) return fail_system(IPC_SYSTEM, error, "cannot listen at %s", address.text().c_str());
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound), &length);
    address_ = address.with_name(name.with_port(TcpEnd::of(bound).port));
    socket_ = std::move(made);
    return IPC_OK;
}

Status TcpListener::accept(const Deadline& deadline, FrameChannel** channel) {
    while (true) {
        Socket client;
        const Status status = posix::accept_next(socket_.get(), interrupt_, address_, deadline, &client);
        if (status != IPC_OK) return status;
        // Another user's client finds the end of the stream; it must not be able to disturb the server's own.
        if (checks_users_ && check_loopback_peer(client.get(), TcpPeer::client, address_) != IPC_OK) continue;
        prepare(client.get());
        *channel = new FrameStream(std::make_unique<posix::SocketStream>(std::move(client)), limit_, address_);
        return IPC_OK;
    }
}

void TcpListener::close() {
    if (!socket_ || !interrupt_.raise()) return;
    shutdown(socket_.get(), SHUT_RDWR);
    posix::refuse_waiting(socket_.get());
}

} // namespace

Status start_sockets() {
    return IPC_OK;
}

Status open_listener(const Address& address, const TcpName& name, const Place& place, FrameListener** listener) {
    auto made = std::make_unique<TcpListener>(address);
    if (Status status = made->open(address, name, place); status != IPC_OK) return status;
    *listener = made.release();
    return IPC_OK;
}

Status connect_failed(const Address& address, SystemError error) {
    switch (error) {
    case ECONNREFUSED:
        return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address.text().c_str());
    case EINPROGRESS:
        return fail(IPC_TIMED_OUT, "%s did not answer within the time-out: check that the machine can be reached",
                    address.text().c_str());
    case EACCES:
    case EPERM:
        return fail_system(IPC_NO_PERMISSION, error, "may not connect to %s", address.text().c_str());
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ETIMEDOUT:
        return fail_system(IPC_NO_SERVER, error, "cannot reach %s", address.text().c_str());
    default:
        return fail_system(IPC_SYSTEM, error, "cannot connect to %s", address.text().c_str());
    }
}

// EINPROGRESS: the time-out passed.
SystemError connect_within(const Place& place, const Deadline& deadline, Socket* connection) {
    Socket made(socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) return errno;
    int error = connect(made.get(), place.generic(), place.length) == 0 ? 0 : errno;
    while (error == EINPROGRESS || error == EINTR) {
        pollfd waiting{made.get(), POLLOUT, 0};
        const int ready = posix::poll_until(&waiting, 1, deadline);
        if (ready < 0) return errno;
        if (ready == 0 && deadline.expired()) return EINPROGRESS;
        if (ready == 0) continue;
        socklen_t length = sizeof error;
        if (getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    }
    if (error != 0) return error;
    fcntl(made.get(), F_SETFL, 0);
    *connection = std::move(made);
    return 0;
}

Status open_client(Socket connection, bool on_loopback, const Address& address, FrameChannel** channel) {
    prepare(connection.get());
    std::unique_ptr<ByteStream> stream;
    if (on_loopback)
        stream = std::make_unique<CheckedClientStream<posix::SocketStream>>(std::move(connection));
    else
        stream = std::make_unique<posix::SocketStream>(std::move(connection));
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

} // namespace ipc::tcp
