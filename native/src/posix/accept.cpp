#include "posix/accept.hpp"

#include "posix/backoff.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace ipc::posix {
namespace {

// The connection was at fault, or somebody else took it; the list is accept(2)'s.
bool is_of_one_connection(int error) {
    switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case EPERM:
        return true;
    default:
        return false;
    }
}

bool is_clients_fault(Status status) {
    return status == IPC_PEER_CLOSED || status == IPC_NOT_OUR_PROTOCOL || status == IPC_NO_PERMISSION;
}

} // namespace

Status accept_next(int listening, const Interrupt& interrupt, const std::string& address, const Deadline& deadline,
                   const Admit& admit) {
    const Patience patience(deadline);
    Backoff backoff;
    std::string not_served; // why the latest client that came could not be served
    while (true) {
        pollfd waiting{listening, POLLIN, 0};
        const Status status = interrupt.wait(&waiting, 1, deadline);
        if (status == IPC_CLOSED) return fail(IPC_CLOSED, "the listener at %s was closed here", address.c_str());
        if (status == IPC_TIMED_OUT || patience.is_over()) {
            if (!not_served.empty())
                return fail(IPC_SYSTEM, "a client came to %s, but could not be served: %s", address.c_str(),
                            not_served.c_str());
            return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address.c_str());
        }
        if (status != IPC_OK) return status;
        // A client for whom there would be a descriptor but none for the memory it is to get waits in the queue, too.
        Descriptor room(fcntl(listening, F_DUPFD_CLOEXEC, 0));
        Descriptor client(room ? accept4(listening, nullptr, nullptr, SOCK_CLOEXEC) : -1);
        Status failed;
        if (client) {
            room.reset();
            failed = has_left(client.get()) ? IPC_PEER_CLOSED : admit(&client);
            if (failed == IPC_OK || !(is_clients_fault(failed) || failed == IPC_SYSTEM)) return failed;
            if (failed != IPC_SYSTEM) continue;
        } else {
            const int error = errno;
            // Anything may come of closing meanwhile.
            if (is_of_one_connection(error) || interrupt.raised()) continue;
            failed = fail_system(IPC_SYSTEM, error, "cannot accept a client at %s", address.c_str());
            if (!is_shortage(error)) return failed;
        }
        not_served = last_error();
        // The next look tells if the listener is closed.
        if (backoff.wait(interrupt, deadline) == IPC_TIMED_OUT) return failed;
    }
}

bool has_left(int connection) {
    char byte;
    const ssize_t count = recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

void refuse_waiting(int listening) {
    while (true) {
        const Descriptor client(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
        if (!client && errno != ECONNABORTED && errno != EINTR) return;
    }
}

} // namespace ipc::posix
