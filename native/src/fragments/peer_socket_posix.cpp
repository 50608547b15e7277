#include "fragments/peer_socket.hpp"
#include "posix/local_socket.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace ipc::fragments {

Status PeerSocket::look(const Deadline& deadline) {
    char bytes[256];
    while (!gone()) {
        const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return IPC_OK;
        if (got > 0 && !takes_tokens_)
            return fail(IPC_NOT_OUR_PROTOCOL, "the peer sent bytes where the library's memory alone should carry them");
        if (got > 0) {
            tokens_.fetch_add(static_cast<uint64_t>(got), std::memory_order_acq_rel);
            continue;
        }
        const bool first = !gone_.exchange(true, std::memory_order_acq_rel);
        if (first && !closed_here() && !server_path_.empty())
            posix::forget_dead_server(server_path_, socket_.get(), deadline);
    }
    return IPC_OK;
}

bool PeerSocket::wait(int64_t patience_ns) const {
    pollfd entry{socket_.get(), POLLIN, 0};
    const timespec limit{static_cast<time_t>(patience_ns / 1'000'000'000),
                         static_cast<long>(patience_ns % 1'000'000'000)};
    return ppoll(&entry, 1, &limit, nullptr) > 0;
}

void PeerSocket::give_token() {
    // The socket holds some hundred tokens; the window is smaller, so that a full one means a peer that does not look.
    const char token = 1;
    while (send(socket_.get(), &token, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) {
    }
}

void PeerSocket::close() {
    if (!closed_here_.exchange(true, std::memory_order_acq_rel)) shutdown(socket_.get(), SHUT_RDWR);
}

} // namespace ipc::fragments
