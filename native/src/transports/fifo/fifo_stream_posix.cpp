#include "transports/fifo/fifo_stream_posix.hpp"

#include "core/frame_stream.hpp"
#include "posix/held_signal.hpp"
#include "transports/fifo/fifo_names_posix.hpp"

#include <cerrno>

namespace ipc {

ssize_t write_without_signal(int descriptor, const iovec* pieces, int count) {
    posix::HeldSignal broken_pipe(SIGPIPE);
    const ssize_t written = writev(descriptor, pieces, count);
    if (written < 0 && errno == EPIPE) broken_pipe.was_raised();
    return written;
}

Status FifoStream::wait(const posix::Descriptor& descriptor, short events, const Deadline& deadline) const {
    pollfd entry{descriptor.get(), events, 0};
    return interrupt_.wait(&entry, 1, deadline);
}

Status FifoStream::read(void* buffer, size_t capacity, Fill, const Deadline& deadline, size_t* count) {
    const std::lock_guard lock(read_mutex_);
    *count = 0;
    while (true) {
        if (!read_first_)
            if (Status status = wait(reading_, POLLIN, deadline); status != IPC_OK) return status;
        if (interrupt_.raised()) return IPC_CLOSED;
        const ssize_t received = ::read(reading_.get(), buffer, capacity);
        const int error = errno;
        read_first_ = received == static_cast<ssize_t>(capacity);
        if (received >= 0) {
            *count = static_cast<size_t>(received);
            return IPC_OK;
        }
        if (error != EAGAIN && error != EINTR) return fail_system(IPC_SYSTEM, error, "cannot read from a FIFO");
    }
}

Status FifoStream::write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    const std::lock_guard lock(write_mutex_);
    while (true) {
        if (interrupt_.raised()) return IPC_CLOSED;
        const auto rest = [](Chunk chunk, size_t skip) {
            return iovec{const_cast<char*>(static_cast<const char*>(chunk.data) + skip), chunk.length - skip};
        };
        const bool in_head = *written < head.length;
        const iovec pieces[2] = {in_head ? rest(head, *written) : rest(body, *written - head.length), rest(body, 0)};
        const ssize_t sent = write_without_signal(writing_.get(), pieces, in_head && body.length != 0 ? 2 : 1);
        const int error = errno;
        if (sent >= 0) *written += static_cast<size_t>(sent);
        if (*written == head.length + body.length) return IPC_OK;
        if (sent >= 0 || error == EINTR) continue;
        if (error == EPIPE) return IPC_PEER_CLOSED;
        if (error != EAGAIN) return fail_system(IPC_SYSTEM, error, "cannot write to a FIFO");
        if (Status status = wait(writing_, POLLOUT, deadline); status != IPC_OK) return status;
    }
}

void FifoStream::interrupt() {
    interrupt_.raise();
    const std::scoped_lock both(read_mutex_, write_mutex_);
    reading_.reset();
    writing_.reset();
}

void FifoStream::peer_gone(const Deadline& deadline) {
    if (!server_path_.empty()) name_is_left_ = !forget_dead_fifo_server(server_path_, deadline);
}

// A process that others keep from the processor may take longer to die than peer_gone() waits.
FifoStream::~FifoStream() {
    if (name_is_left_) forget_fifo_server_if_dead(server_path_);
}

bool write_fifo(int descriptor, const char* bytes, size_t length) {
    const iovec piece{const_cast<char*>(bytes), length};
    ssize_t written;
    do written = write_without_signal(descriptor, &piece, 1);
    while (written < 0 && errno == EINTR);
    return written == static_cast<ssize_t>(length);
}

Greeting read_fifo_greeting(int descriptor) {
    char byte = 0;
    ssize_t count;
    do count = read(descriptor, &byte, 1);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) return Greeting::awaited;
    return count == 1 && byte == fifo_greeting ? Greeting::here : Greeting::none;
}

FrameChannel* make_fifo_channel(const Address& address, std::unique_ptr<FifoStream> stream) {
    return new FrameStream(std::move(stream), address.limit(), address.text());
}

} // namespace ipc
