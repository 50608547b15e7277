#include "win32/pipe_stream.hpp"

#include "win32/error_text.hpp"
#include "win32/wine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

namespace ipc::win32 {
namespace {

// One write takes at most so much, because the system may have to keep all of it in memory of its own.
constexpr size_t largest_fragment = 1024 * 1024;
constexpr size_t largest_read = 0x4000'0000;
constexpr size_t small_message = 4096;

bool is_end_of_peer(DWORD error) {
    return error == ERROR_BROKEN_PIPE || error == ERROR_NO_DATA || error == ERROR_PIPE_NOT_CONNECTED;
}

} // namespace

Status PipeStream::open() {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    recall_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    read_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    write_event_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (recall_event_ && read_event_ && write_event_) return IPC_OK;
    return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
}

// Waits for an operation that was begun with this result: IPC_OK with *count, or with *failure not 0. When the time is over,
// the stream interrupted or `recall`, if there is one, set, the operation is cancelled; one that was done by then counts.
Status PipeStream::finish(OVERLAPPED* operation, DWORD error, HANDLE recall, const Deadline& deadline, DWORD* failure,
                          size_t* count) {
    *failure = 0;
    *count = 0;
    if (error != 0 && error != ERROR_IO_PENDING && error != ERROR_MORE_DATA) {
        *failure = error;
        return IPC_OK;
    }
    Status waited = IPC_OK;
    if (error == ERROR_IO_PENDING) {
        waited = recall == nullptr ? interrupt_.wait(operation->hEvent, deadline)
                                   : interrupt_.wait_unless_recalled(operation->hEvent, recall, deadline);
        if (waited != IPC_OK) CancelIoEx(pipe_.get(), operation);
    }
    DWORD transferred = 0;
    if (!GetOverlappedResult(pipe_.get(), operation, &transferred, TRUE)) *failure = GetLastError();
    *count = transferred;
    if (*failure == ERROR_MORE_DATA) *failure = 0; // the message's rest is read next
    if (*failure != ERROR_OPERATION_ABORTED || waited == IPC_OK) return IPC_OK;
    *failure = 0;
    return waited;
}

Status PipeStream::read(void* buffer, size_t capacity, Fill, const Deadline& deadline, size_t* count) {
    *count = 0;
    const Inside inside(*this);
    if (!inside) return IPC_CLOSED;
    // A write of nothing at all arrives as nothing, and is not the end.
    while (*count == 0) {
        OVERLAPPED operation{};
        operation.hEvent = read_event_.get();
        const auto wanted = static_cast<DWORD>(std::min(capacity, largest_read));
        const DWORD error = ReadFile(pipe_.get(), buffer, wanted, nullptr, &operation) ? 0 : GetLastError();
        DWORD failure = 0;
        if (Status s = finish(&operation, error, recall_event_.get(), deadline, &failure, count); s != IPC_OK) return s;
        if (is_end_of_peer(failure)) return IPC_OK;
        if (failure != 0) return fail_windows(IPC_SYSTEM, failure, "cannot read from a pipe");
    }
    return IPC_OK;
}

Status PipeStream::write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    const Inside inside(*this);
    if (!inside) return IPC_CLOSED;
    if (mode_ == PipeMode::message) return write_message(head, body, deadline, written);
    if (Status status = write_all(head.data, head.length, deadline, written); status != IPC_OK) return status;
    return write_all(body.data, body.length, deadline, written);
}

Status PipeStream::write_message(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    if (body.length == 0) return write_fragment(head.data, head.length, deadline, written);
    const size_t length = head.length + body.length;
    std::array<char, small_message> small;
    std::unique_ptr<char[]> large;
    if (length > small.size()) {
        large.reset(new (std::nothrow) char[length]);
        if (!large)
            return fail(IPC_OUT_OF_MEMORY, "out of memory for a pipe's message of %zu bytes: use mode=byte", length);
    }
    char* const message = large ? large.get() : small.data();
    std::memcpy(message, head.data, head.length);
    std::memcpy(message + head.length, body.data, body.length);
    return write_fragment(message, length, deadline, written);
}

Status PipeStream::write_all(const void* data, size_t length, const Deadline& deadline, size_t* written) {
    const size_t most = most_at_once(largest_fragment);
    for (size_t done = 0; done < length;) {
        size_t count = 0;
        const size_t fragment = std::min(length - done, most);
        const Status status = write_fragment(static_cast<const char*>(data) + done, fragment, deadline, &count);
        done += count;
        *written += count;
        if (status != IPC_OK) return status;
    }
    return IPC_OK;
}

// Writes all of it, or fails. A write that is cancelled while it waits may have been read in part, and the system does not
// tell: it counts as begun.
Status PipeStream::write_fragment(const void* data, size_t length, const Deadline& deadline, size_t* count) {
    OVERLAPPED operation{};
    operation.hEvent = write_event_.get();
    const DWORD error =
        WriteFile(pipe_.get(), data, static_cast<DWORD>(length), nullptr, &operation) ? 0 : GetLastError();
    DWORD failure = 0;
    const Status status = finish(&operation, error, nullptr, deadline, &failure, count);
    if (status != IPC_OK) {
        *count = std::max<size_t>(*count, 1);
        return status;
    }
    if (is_end_of_peer(failure)) return IPC_PEER_CLOSED;
    if (failure != 0) return fail_windows(IPC_SYSTEM, failure, "cannot write to a pipe");
    return IPC_OK;
}

void PipeStream::leave() {
    if (inside_.fetch_sub(1) != (closing | 1)) return;
    const std::lock_guard lock(close_mutex_);
    pipe_.reset();
}

bool PipeStream::interrupt_receiving(bool on) {
    return set_or_reset(recall_event_.get(), on);
}

void PipeStream::interrupt() {
    if (!interrupt_.raise()) return;
    const Inside inside(*this); // whoever leaves last closes the pipe
    inside_.fetch_or(closing);
}

} // namespace ipc::win32
