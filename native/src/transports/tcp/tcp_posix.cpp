// `tcp` on POSIX.
#include "core/frame_stream.hpp"
#include "posix/accept.hpp"
#include "posix/poll.hpp"
#include "posix/socket_stream.hpp"
#include "transports/tcp/checked_client_stream.hpp"
#include "transports/tcp/loopback_owner.hpp"
#include "transports/tcp/tcp_system.hpp"

#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace ipc::tcp {
namespace {

void set_option(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

// How long a sender waits for room before it looks if the peer has closed.
constexpr int longest_send_ms = 1000;

bool is_on_this_machine(int connection) {
    TcpEnds ends{};
    return ends_of(connection, &ends) && (ends.peer.is_loopback() || ends.peer.address == ends.self.address);
}

void prepare(int socket) {
    // A frame is complete when it is sent: nothing is gained by waiting for more.
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    // Tells a client that its owner is no longer needed: wait_until_admitted.
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    // Another machine that vanished without a word is given up after some 25 s, busy or idle. This one cannot vanish, and the last of these options
    // would also end connections whose reader has taken nothing for so long: a process that is stopped, in a debugger for example.
    if (is_on_this_machine(socket)) return;
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

class TcpListener final : public FrameListener {
  public:
    TcpListener(const Address& address) : limit_(address.limit()) {
        if (address.option("users") == "same") query_ = std::make_unique<SocketQuery>();
    }
    ~TcpListener() override { TcpListener::close(); }

    Status open(const Address& address, const TcpName& name, const Place& place);
    Status accept(const Deadline& deadline, FrameChannel** channel) override;
    void close() override;
    const char* address() const override { return address_.c_str(); }

  private:
    static constexpr size_t most_at_once = 64;

    bool take_checked(Socket* client);
    Status admit(Socket* came, Socket* client);

    const size_t limit_;
    std::unique_ptr<SocketQuery> query_; // if users are checked
    std::string address_;
    Socket socket_;
    posix::Interrupt interrupt_;
    std::mutex mutex_; // guards what follows
    std::deque<Socket> checked_;
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
    Socket client;
    if (!take_checked(&client))
        if (Status s = posix::accept_next(socket_.get(), interrupt_, address_, deadline,
                                          [&](Socket* came) { return admit(came, &client); }))
            return s;
    prepare(client.get());
    *channel =
        new FrameStream(std::make_unique<posix::SocketStream>(std::move(client), longest_send_ms), limit_, address_);
    return IPC_OK;
}

// One that was checked with others before.
bool TcpListener::take_checked(Socket* client) {
    const std::lock_guard lock(mutex_);
    if (checked_.empty() || interrupt_.raised()) return false;
    *client = std::move(checked_.front());
    checked_.pop_front();
    return true;
}

// Another user's client finds the end of the stream; it must not be able to disturb the server's own.
Status TcpListener::admit(Socket* came, Socket* client) {
    if (!query_) {
        *client = std::move(*came);
        return IPC_OK;
    }
    std::vector<Socket> sockets;
    sockets.push_back(std::move(*came));
    // What costs a look through the whole table is done for all who wait.
    while (!query_->answers() && sockets.size() < most_at_once) {
        Socket next(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!next) break;
        if (!posix::has_left(next.get())) sockets.push_back(std::move(next));
    }
    std::vector<SocketNumber> numbers;
    for (const Socket& socket : sockets) numbers.push_back(socket.get());
    const std::vector<Client> clients = check_loopback_clients(numbers, *query_);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < sockets.size(); ++i)
        if (clients[i] == Client::ours && !*client)
            *client = std::move(sockets[i]);
        else if (clients[i] == Client::ours)
            checked_.push_back(std::move(sockets[i]));
    return *client ? IPC_OK : IPC_NO_PERMISSION;
}

void TcpListener::close() {
    if (!socket_ || !interrupt_.raise()) return;
    shutdown(socket_.get(), SHUT_RDWR);
    posix::refuse_waiting(socket_.get());
    const std::lock_guard lock(mutex_);
    checked_.clear();
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
        stream = std::make_unique<CheckedClientStream<posix::SocketStream>>(std::move(connection), longest_send_ms);
    else
        stream = std::make_unique<posix::SocketStream>(std::move(connection), longest_send_ms);
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

} // namespace ipc::tcp
