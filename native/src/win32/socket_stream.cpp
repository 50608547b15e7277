#include "win32/socket_stream.hpp"

#include "win32/error_text.hpp"

#include <algorithm>

namespace ipc::win32 {
namespace {

constexpr size_t largest_piece = 0x4000'0000;

bool is_end_of_peer(unsigned long error) {
    switch (error) {
    case WSAECONNRESET:
    case WSAECONNABORTED:
    case WSAENETRESET:
    case WSAESHUTDOWN:
    case WSAEDISCON:
    case WSAETIMEDOUT:
        return true;
    default:
        return false;
    }
}

WSABUF piece(Chunk chunk, size_t skip) {
    const char* begin = static_cast<const char*>(chunk.data);
    return {static_cast<ULONG>(std::min(chunk.length - skip, largest_piece)), const_cast<char*>(begin) + skip};
}

} // namespace

Status SocketStream::open() {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    recall_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    read_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    room_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!recall_event_ || !read_event_ || !room_event_)
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    // From now on the socket never waits by itself.
    if (WSAEventSelect(socket_.get(), room_event_.get(), FD_WRITE | FD_CLOSE) == 0) return IPC_OK;
    return fail_windows(IPC_SYSTEM, socket_error(), "cannot watch a socket");
}

Status SocketStream::read(void* buffer, size_t capacity, Fill, const Deadline& deadline, size_t* count) {
    *count = 0;
    if (interrupt_.raised()) return IPC_CLOSED;
    WSABUF room{static_cast<ULONG>(std::min(capacity, largest_piece)), static_cast<char*>(buffer)};
    WSAOVERLAPPED operation{};
    operation.hEvent = read_event_.get();
    DWORD flags = 0;
    Status waited = IPC_OK;
    if (WSARecv(socket_.get(), &room, 1, nullptr, &flags, &operation, nullptr) != 0) {
        const unsigned long error = socket_error();
        if (is_end_of_peer(error)) return IPC_OK;
        if (error != WSA_IO_PENDING) return fail_windows(IPC_SYSTEM, error, "cannot read from a socket");
        waited = interrupt_.wait_unless_recalled(operation.hEvent, recall_event_.get(), deadline);
        if (waited != IPC_OK) CancelIoEx(reinterpret_cast<HANDLE>(socket_.get()), &operation);
    }
    DWORD received = 0;
    const bool good = WSAGetOverlappedResult(socket_.get(), &operation, &received, TRUE, &flags) != FALSE;
    const unsigned long error = good ? 0 : socket_error();
    *count = received;
    if (good || is_end_of_peer(error)) return IPC_OK;
    if (waited != IPC_OK && error == WSA_OPERATION_ABORTED) return waited;
    return fail_windows(IPC_SYSTEM, error, "cannot read from a socket");
}

Status SocketStream::write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    while (*written < head.length + body.length) {
        if (interrupt_.raised()) return IPC_CLOSED;
        ResetEvent(room_event_.get());
        WSABUF pieces[2];
        DWORD count = 0;
        if (*written < head.length) pieces[count++] = piece(head, *written);
        if (body.length != 0) pieces[count++] = piece(body, *written < head.length ? 0 : *written - head.length);
        DWORD sent = 0;
        if (WSASend(socket_.get(), pieces, count, &sent, 0, nullptr, nullptr) == 0) {
            *written += sent;
            continue;
        }
        const unsigned long error = socket_error();
        if (is_end_of_peer(error)) return IPC_PEER_CLOSED;
        if (error != WSAEWOULDBLOCK) return fail_windows(IPC_SYSTEM, error, "cannot write to a socket");
        if (Status status = interrupt_.wait_for_socket(room_event_.get(), deadline); status != IPC_OK) return status;
    }
    return IPC_OK;
}

bool SocketStream::interrupt_receiving(bool on) {
    return set_or_reset(recall_event_.get(), on);
}

void SocketStream::interrupt() {
    if (interrupt_.raise()) shutdown(socket_.get(), SD_BOTH);
}

} // namespace ipc::win32
