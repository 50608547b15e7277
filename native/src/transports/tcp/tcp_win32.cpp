// `tcp` on Windows.
#include "core/frame_stream.hpp"
#include "transports/tcp/checked_client_stream.hpp"
#include "transports/tcp/loopback_owner.hpp"
#include "transports/tcp/tcp_system.hpp"
#include "win32/error_text.hpp"
#include "win32/socket_stream.hpp" // before windows.h

#include <memory>
#include <mstcpip.h>
#include <string>

namespace ipc::tcp {
namespace {

using win32::fail_windows;
using win32::socket_error;

Socket make_socket(const Place& place) {
    return Socket(WSASocketW(place.address.ss_family, SOCK_STREAM, IPPROTO_TCP, nullptr, 0,
                             WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
}

template <class Value>
void set_option(SOCKET socket, int level, int option, Value value) {
    setsockopt(socket, level, option, reinterpret_cast<const char*>(&value), sizeof value);
}

void prepare(SOCKET socket) {
    // A frame is complete when it is sent: nothing is gained by waiting for more.
    set_option<BOOL>(socket, IPPROTO_TCP, TCP_NODELAY, TRUE);
    // A machine that vanished without a word is given up after a minute when idle, after some 25 s when busy.
    tcp_keepalive alive{1, 10'000, 5'000};
    DWORD none = 0;
    WSAIoctl(socket, SIO_KEEPALIVE_VALS, &alive, sizeof alive, nullptr, 0, &none, nullptr, nullptr);
    constexpr int tcp_max_rt = 5; // TCP_MAXRT, in seconds
    set_option<DWORD>(socket, IPPROTO_TCP, tcp_max_rt, 25);
}

// A refusal on this machine is final, but the system would ask again for two seconds.
void take_first_refusal(SOCKET socket) {
    struct {
        USHORT round_trip_ms;
        UCHAR retries;
    } once{0xffff, 0xfe}; // TCP_INITIAL_RTO_PARAMETERS: unspecified, no retransmissions
    constexpr DWORD initial_retries = _WSAIOW(IOC_VENDOR, 17); // SIO_TCP_INITIAL_RTO
    DWORD none = 0;
    WSAIoctl(socket, initial_retries, &once, sizeof once, nullptr, 0, &none, nullptr, nullptr);
}

template <class Stream>
Status make_channel(Socket socket, size_t limit, const std::string& address, FrameChannel** channel) {
    prepare(socket.get());
    auto stream = std::make_unique<Stream>(std::move(socket));
    if (Status status = stream->open(); status != IPC_OK) return status;
    *channel = new FrameStream(std::move(stream), limit, address);
    return IPC_OK;
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
    Status accept_socket(const Deadline& deadline, Socket* client);

    const size_t limit_;
    std::unique_ptr<SocketQuery> query_; // if users are checked
    std::string address_;
    Socket socket_;
    win32::Interrupt interrupt_;
    win32::Handle came_; // event: clients wait
    std::mutex mutex_;   // guards socket_ against closing while a thread accepts
};

Status TcpListener::open(const Address& address, const TcpName& name, const Place& place) {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    came_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!came_) return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    Socket made = make_socket(place);
    if (!made) return fail_windows(IPC_SYSTEM, socket_error(), "cannot make a socket for %s", address.text().c_str());
    // Without an option about reusing addresses: other users' sockets cannot share the port, and connections of an earlier
    // listener do not keep it. (An exclusive one would wait for their end.)
    unsigned long error = bind(made.get(), place.generic(), place.length) == 0 ? 0 : socket_error();
    if (error == 0 && ::listen(made.get(), SOMAXCONN) != 0) error = socket_error();
    if (error == 0 && WSAEventSelect(made.get(), came_.get(), FD_ACCEPT) != 0) error = socket_error();
    if (error == WSAEADDRINUSE || error == WSAEACCES)
        return fail(
            IPC_NAME_IN_USE,
            "cannot listen at %s: another listener has this port, or the system keeps it for itself; close it or "
            "choose another port",
            address.text().c_str());
    if (error != 0) return fail_windows(IPC_SYSTEM, error, "cannot listen at %s", address.text().c_str());
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound), &length);
    address_ = address.with_name(name.with_port(TcpEnd::of(bound).port));
    socket_ = std::move(made);
    return IPC_OK;
}

Status TcpListener::accept_socket(const Deadline& deadline, Socket* client) {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (interrupt_.raised()) return fail(IPC_CLOSED, "the listener at %s was closed here", address_.c_str());
            // First, so that whoever comes after the look sets it.
            ResetEvent(came_.get());
            *client = Socket(::accept(socket_.get(), nullptr, nullptr));
            const unsigned long error = *client ? 0 : socket_error();
            if (*client) return IPC_OK;
            if (error != WSAEWOULDBLOCK && error != WSAECONNRESET)
                return fail_windows(IPC_SYSTEM, error, "cannot accept a client at %s", address_.c_str());
        }
        const Status status = interrupt_.wait_for_socket(came_.get(), deadline);
        if (status == IPC_TIMED_OUT)
            return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address_.c_str());
        if (status != IPC_OK && status != IPC_CLOSED) return status;
    }
}

Status TcpListener::accept(const Deadline& deadline, FrameChannel** channel) {
    while (true) {
        Socket client;
        if (Status status = accept_socket(deadline, &client); status != IPC_OK) return status;
        // Another user's client finds the end of the stream; it must not be able to disturb the server's own.
        if (has_ended(client.get())) continue;
        if (query_ && check_loopback_clients({client.get()}, *query_).front() != Client::ours) continue;
        return make_channel<win32::SocketStream>(std::move(client), limit_, address_, channel);
    }
}

void TcpListener::close() {
    if (!socket_ || !interrupt_.raise()) return;
    // Clients that wait unaccepted are refused.
    const std::lock_guard lock(mutex_);
    socket_.reset();
}

} // namespace

Status start_sockets() {
    return win32::start_sockets();
}

Status open_listener(const Address& address, const TcpName& name, const Place& place, FrameListener** listener) {
    auto made = std::make_unique<TcpListener>(address);
    if (Status status = made->open(address, name, place); status != IPC_OK) return status;
    *listener = made.release();
    return IPC_OK;
}

Status connect_failed(const Address& address, SystemError error) {
    switch (error) {
    case WSAECONNREFUSED:
        return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address.text().c_str());
    case WSAEWOULDBLOCK:
        return fail(IPC_TIMED_OUT, "%s did not answer within the time-out: check that the machine can be reached",
                    address.text().c_str());
    case WSAEACCES:
        return fail_windows(IPC_NO_PERMISSION, error, "may not connect to %s", address.text().c_str());
    case WSAENETUNREACH:
    case WSAEHOSTUNREACH:
    case WSAETIMEDOUT:
    case WSAEADDRNOTAVAIL:
        return fail_windows(IPC_NO_SERVER, error, "cannot reach %s", address.text().c_str());
    default:
        return fail_windows(IPC_SYSTEM, error, "cannot connect to %s", address.text().c_str());
    }
}

// WSAEWOULDBLOCK: the time-out passed.
SystemError connect_within(const Place& place, const Deadline& deadline, Socket* connection) {
    const win32::Handle connected(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    Socket made = make_socket(place);
    if (!made) return socket_error();
    if (!connected) return GetLastError();
    if (TcpEnd::of(place.address).is_loopback()) take_first_refusal(made.get());
    if (WSAEventSelect(made.get(), connected.get(), FD_CONNECT) != 0) return socket_error();
    if (connect(made.get(), place.generic(), place.length) != 0) {
        if (socket_error() != WSAEWOULDBLOCK) return socket_error();
        while (WaitForSingleObject(connected.get(),
                                   deadline.forever() ? INFINITE : static_cast<DWORD>(deadline.left_ms())) ==
               WAIT_TIMEOUT)
            if (deadline.expired()) return WSAEWOULDBLOCK;
        WSANETWORKEVENTS events{};
        if (WSAEnumNetworkEvents(made.get(), nullptr, &events) != 0) return socket_error();
        if (const int error = events.iErrorCode[FD_CONNECT_BIT]; error != 0) return static_cast<unsigned long>(error);
    }
    *connection = std::move(made);
    return 0;
}

Status open_client(Socket connection, bool on_loopback, const Address& address, FrameChannel** channel) {
    if (on_loopback)
        return make_channel<CheckedClientStream<win32::SocketStream>>(std::move(connection), address.limit(),
                                                                      address.text(), channel);
    return make_channel<win32::SocketStream>(std::move(connection), address.limit(), address.text(), channel);
}

} // namespace ipc::tcp
