#include "posix/accept.hpp"

#include <cerrno>
#include <sys/socket.h>

namespace ipc::posix {

Status accept_next(int listening, const Interrupt& interrupt, const std::string& address, const Deadline& deadline,
                   Descriptor* connection) {
    while (true) {
        pollfd waiting{listening, POLLIN, 0};
        const Status status = interrupt.wait(&waiting, 1, deadline);
        if (status == IPC_CLOSED) return fail(IPC_CLOSED, "the listener at %s was closed here", address.c_str());
        if (status == IPC_TIMED_OUT)
            return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address.c_str());
        if (status != IPC_OK) return status;
        Descriptor client(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
        if (client) {
            *connection = std::move(client);
            return IPC_OK;
        }
        // Taken by another thread or gone again: wait for the next one. The rest may come of closing meanwhile.
        const int error = errno;
        const bool gone = error == EAGAIN || error == EINTR || error == ECONNABORTED;
        if (!gone && !interrupt.raised())
            return fail_system(IPC_SYSTEM, error, "cannot accept a client at %s", address.c_str());
    }
}

void refuse_waiting(int listening) {
    while (true) {
        const Descriptor client(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
        if (!client && errno != ECONNABORTED && errno != EINTR) return;
    }
}

} // namespace ipc::posix
