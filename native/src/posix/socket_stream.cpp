#include "posix/socket_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

namespace ipc::posix {
namespace {

// The last two: the network has lost the peer.
bool is_end_of_peer(int error) {
    return error == EPIPE || error == ECONNRESET || error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

} // namespace

// Makes the next call on the socket give up with the deadline, and after longest_ms (0: never): by its flags if it must not wait, else by the
// option.
int SocketStream::wait_flags(const Deadline& deadline, int option, int longest_ms, int* set_ms) {
    int left_ms = deadline.forever() ? longest_ms : deadline.left_ms();
    if (!deadline.forever() && left_ms == 0) return MSG_DONTWAIT;
    if (longest_ms != 0) left_ms = std::min(left_ms, longest_ms);
    if (left_ms != *set_ms) {
        const timeval limit{left_ms / 1000, left_ms % 1000 * 1000};
        if (setsockopt(socket_.get(), SOL_SOCKET, option, &limit, sizeof limit) == 0) *set_ms = left_ms;
    }
    return 0;
}

Status SocketStream::read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) {
    *count = 0;
    while (true) {
        int flags = fill == Fill::all ? MSG_WAITALL : 0;
        if (!deadline.forever() || receive_limit_ms_ != 0)
            flags |= wait_flags(deadline, SO_RCVTIMEO, 0, &receive_limit_ms_);
        const ssize_t received = recv(socket_.get(), buffer, capacity, flags);
        if (received >= 0) [[likely]] {
            *count = static_cast<size_t>(received);
            return IPC_OK;
        }
        const int error = errno;
        if (is_end_of_peer(error)) return IPC_OK;
        if (error != EINTR && error != EAGAIN) return fail_system(IPC_SYSTEM, error, "cannot read from a socket");
        if (error == EAGAIN && deadline.expired()) return IPC_TIMED_OUT;
    }
}

Status SocketStream::write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    while (true) {
        int flags = MSG_NOSIGNAL;
        if (!deadline.forever() || send_limit_ms_ != longest_send_ms_)
            flags |= wait_flags(deadline, SO_SNDTIMEO, longest_send_ms_, &send_limit_ms_);
        const ssize_t sent = write_once(head, body, *written, flags);
        if (sent >= 0) [[likely]] {
            *written += static_cast<size_t>(sent);
            if (*written == head.length + body.length) return IPC_OK;
            continue;
        }
        const int error = errno;
        if (is_end_of_peer(error)) return IPC_PEER_CLOSED;
        if (error != EINTR && error != EAGAIN) return fail_system(IPC_SYSTEM, error, "cannot write to a socket");
        if (error == EAGAIN && peer_has_closed()) return IPC_PEER_CLOSED;
        if (error == EAGAIN && deadline.expired()) return IPC_TIMED_OUT;
    }
}

// Sends what follows the first `skip` bytes of head and body; one piece if it can be, because that is cheaper.
ssize_t SocketStream::write_once(Chunk head, Chunk body, size_t skip, int flags) {
    const auto after = [](Chunk chunk, size_t count) { return static_cast<const char*>(chunk.data) + count; };
    if (skip >= head.length) {
        skip -= head.length;
        if (body.length == 0) return 0;
        return send(socket_.get(), after(body, skip), body.length - skip, flags);
    }
    if (body.length == 0) return send(socket_.get(), after(head, skip), head.length - skip, flags);
    iovec pieces[2] = {{const_cast<char*>(after(head, skip)), head.length - skip},
                       {const_cast<void*>(body.data), body.length}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    return sendmsg(socket_.get(), &message, flags);
}

// Whether it has said that it sends no more: no peer of ours does so before its end.
bool SocketStream::peer_has_closed() const {
    pollfd ended{socket_.get(), POLLRDHUP, 0};
    return poll(&ended, 1, 0) > 0;
}

void SocketStream::interrupt() {
    shutdown(socket_.get(), SHUT_RDWR);
}

} // namespace ipc::posix
