#include "fragments/fragment_channel.hpp"
#include "fragments/handshake.hpp"
#include "posix/frame_listener.hpp"
#include "posix/local_socket.hpp"
#include "posix/poll.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace ipc::fragments {
namespace {

constexpr uint32_t greeting_version = 1;

// Option wait, which every transport of this room has: block or spin.
bool spins(const Address& address) {
    return address.option("wait") == "spin";
}

// The server's half of the handshake with a client.
Status welcome(const TransportTraits& traits, const Address& address, posix::Descriptor connection,
               FrameChannel** channel) {
    const int socket = connection.get();
    auto peer = std::make_shared<PeerSocket>(std::move(connection), std::string(), traits.tokens);
    Greeting greeting{};
    greeting.magic = traits.magic;
    greeting.version = greeting_version;
    std::unique_ptr<FragmentCarrier> carrier;
    if (Status s = traits.offer(address, peer, &greeting, &carrier)) return s;
    // The greeting is smaller than any socket's buffer: it goes whole or not at all.
    if (::send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof greeting)) {
        if (errno == EPIPE || errno == ECONNRESET)
            return fail(IPC_PEER_CLOSED, "the client left before the connection was made");
        return fail_system(IPC_SYSTEM, errno, "cannot greet the client");
    }
    *channel = new FragmentChannel(std::move(carrier), std::move(peer), address.limit(), spins(address));
    return IPC_OK;
}

Status receive_greeting(const TransportTraits& traits, int socket, const Deadline& deadline, Greeting* greeting) {
    auto* bytes = reinterpret_cast<char*>(greeting);
    for (size_t have = 0; have < sizeof *greeting;) {
        pollfd readable{socket, POLLIN, 0};
        const int ready = posix::poll_until(&readable, 1, deadline);
        if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for the server's greeting");
        if (ready == 0) return fail(IPC_TIMED_OUT, "the server did not accept this client in time");
        const ssize_t got = recv(socket, bytes + have, sizeof *greeting - have, 0);
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return fail(IPC_PEER_CLOSED, "the server closed or died before it accepted this client: connect again");
        if (got < 0 && errno != EINTR) return fail_system(IPC_SYSTEM, errno, "cannot receive the server's greeting");
        if (got > 0) have += static_cast<size_t>(got);
    }
    if (greeting->magic != traits.magic || greeting->version != greeting_version ||
        greeting->id[sizeof greeting->id - 1] != '\0')
        return fail(IPC_NOT_OUR_PROTOCOL, "what listens there is not this transport's server, or of another version");
    return IPC_OK;
}

} // namespace

Status listen(const TransportTraits& traits, const Address& address, FrameListener** listener) {
    if (Status s = traits.check(address)) return s;
    posix::LocalName name;
    if (Status s = posix::private_name(address, traits.name_prefix, &name)) return s;
    const auto meet = [&traits](const Address& of, posix::Descriptor connection, FrameChannel** channel) {
        return welcome(traits, of, std::move(connection), channel);
    };
    if (Status s = posix::listen_local(address, name, meet, listener)) return s;
    traits.sweep(address);
    return IPC_OK;
}

Status connect(const TransportTraits& traits, const Address& address, const Deadline& deadline,
               FrameChannel** channel) {
    if (Status s = traits.check(address)) return s;
    posix::LocalName name;
    posix::Descriptor connection;
    if (Status s = posix::private_name(address, traits.name_prefix, &name)) return s;
    if (Status s = posix::connect_local(name, deadline, &connection)) return s;
    const int socket = connection.get();
    auto peer = std::make_shared<PeerSocket>(std::move(connection), name.path, traits.tokens);
    Greeting greeting{};
    if (Status s = receive_greeting(traits, socket, deadline, &greeting)) {
        // The status stays what it was; forgetting may set no error message of its own.
        if (s == IPC_PEER_CLOSED) posix::forget_dead_server(name.path, socket, deadline);
        return s;
    }
    std::unique_ptr<FragmentCarrier> carrier;
    if (Status s = traits.take_up(address, peer, greeting, deadline, &carrier)) return s;
    *channel = new FragmentChannel(std::move(carrier), std::move(peer), address.limit(), spins(address));
    return IPC_OK;
}

} // namespace ipc::fragments
