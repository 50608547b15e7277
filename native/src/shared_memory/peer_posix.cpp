#include "posix/local_socket.hpp"
#include "posix/poll.hpp"
#include "shared_memory/greeting.hpp"
#include "shared_memory/handover.hpp"
#include "shared_memory/peer.hpp"
#include "shared_memory/waiting.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace ipc::shared_memory {
struct Peer::System {
    posix::Descriptor socket;
    std::string server_name;
    std::atomic<bool> gone{false};

    void forget_dead_server(const Deadline& deadline) {
        if (!gone.exchange(true) && !server_name.empty())
            posix::forget_dead_server(server_name, socket.get(), deadline);
    }
};

Peer::Peer(Connection connection, std::string server_name)
    : system_(new System{posix::Descriptor(connection), std::move(server_name)}) {}

Peer::~Peer() = default;

bool Peer::has_one_processor_with_us() const {
    ucred peer{};
    socklen_t length = sizeof peer;
    return getsockopt(system_->socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           one_processor_with(peer.pid);
}

Status Peer::hand_over(Layout layout, MemoryFile memory) {
    if (fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot seal shared memory");
    const Greeting greeting = greeting_of(layout);
    const int file = memory.get();
    const int error = send_with_descriptors(system_->socket.get(), &greeting, sizeof greeting, &file, 1);
    if (error == 0) return IPC_OK;
    if (error == EPIPE || error == ECONNRESET || error == EAGAIN)
        return fail(IPC_PEER_CLOSED, "the client left before it took the shared memory");
    return fail_system(IPC_SYSTEM, error, "cannot hand the shared memory over");
}

Status Peer::receive(Layout layout, const Deadline& deadline, MemoryFile* memory) {
    pollfd readable{system_->socket.get(), POLLIN, 0};
    const int ready = posix::poll_until(&readable, 1, deadline);
    if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for the server's shared memory");
    if (ready == 0) return fail(IPC_TIMED_OUT, "the server did not hand over its shared memory in time");

    Greeting greeting{};
    size_t descriptors = 0;
    const long got =
        receive_with_descriptors(system_->socket.get(), &greeting, sizeof greeting, memory, 1, &descriptors);
    if (got == 0 || got == -ECONNRESET) {
        system_->forget_dead_server(deadline);
        return fail(IPC_PEER_CLOSED,
                    "the server closed or died before it handed over its shared memory: connect again");
    }
    if (got < 0) return fail_system(IPC_SYSTEM, static_cast<int>(-got), "cannot take the server's shared memory");
    if (got == static_cast<long>(sizeof greeting))
        if (Status s = check(greeting, layout)) return s;
    if (got != static_cast<long>(sizeof greeting) || descriptors != 1)
        return fail(IPC_NOT_OUR_PROTOCOL, "what listens there is not this transport's server: check the address");
    // Without its last seal the others could be of no use tomorrow. (-1, for what cannot be sealed, has every bit set.)
    const int seals = fcntl(memory->get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SEAL) == 0)
        return fail(IPC_NOT_OUR_PROTOCOL, "the shared memory the server handed over is not sealed");
    return IPC_OK;
}

void Peer::sleep_on(const Header&) {}

Status Peer::look(const Deadline& deadline) {
    char byte;
    const ssize_t got = recv(system_->socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return IPC_OK;
    if (got > 0) return fail(IPC_NOT_OUR_PROTOCOL, "the peer sent bytes where shared memory alone should carry them");
    system_->forget_dead_server(deadline);
    return IPC_PEER_CLOSED;
}

void Peer::hang_up() {
    shutdown(system_->socket.get(), SHUT_RDWR);
}

} // namespace ipc::shared_memory
