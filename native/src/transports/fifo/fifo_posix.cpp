// `fifo`: frames over two FIFOs per connection. Clients find the listener through a third one.
#include "core/frame_stream.hpp"
#include "core/transport.hpp"
#include "posix/names.hpp"
#include "posix/poll.hpp"
#include "transports/fifo/fifo_names_posix.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <sys/random.h>
#include <sys/stat.h>

namespace ipc {
namespace {

using posix::Descriptor;

// How long a client may take for its last step of the rendezvous.
constexpr int32_t greeting_limit_ms = 1000;

bool write_bytes(int descriptor, const char* bytes, size_t length) {
    const iovec piece{const_cast<char*>(bytes), length};
    ssize_t written;
    do written = write_without_signal(descriptor, &piece, 1);
    while (written < 0 && errno == EINTR);
    return written == static_cast<ssize_t>(length);
}

bool read_greeting(int descriptor) {
    char byte = 0;
    ssize_t count;
    do count = read(descriptor, &byte, 1);
    while (count < 0 && errno == EINTR);
    return count == 1 && byte == fifo_greeting;
}

Status make_channel(const Address& address, Descriptor reading, Descriptor writing, const std::string& server_path,
                    FrameChannel** channel) {
    auto stream = std::make_unique<FifoStream>(std::move(reading), std::move(writing), server_path);
    if (Status status = stream->open(); status != IPC_OK) return status;
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

class FifoListener final : public FrameListener {
  public:
    FifoListener(const Address& address, std::string path) : address_(address), path_(std::move(path)) {}
    ~FifoListener() override { FifoListener::close(); }

    Status open();
    Status accept(const Deadline& deadline, FrameChannel** channel) override;
    void close() override;
    const char* address() const override { return address_.text().c_str(); }

  private:
    Status take_name();
    Status next_token(const Deadline& deadline, std::string* token);
    bool find_record(std::string* token);
    Status greet(const FifoPair& pair, Descriptor* up, Descriptor* down);

    const Address address_;
    const std::string path_;
    Descriptor rendezvous_;
    posix::FileIdentity identity_;
    posix::Interrupt interrupt_;
    // Shared by accept, alone by close: clients in the queue learn that nobody accepts them when the rendezvous is
    // closed, which must not happen under an accept in progress.
    std::shared_mutex in_use_;
    std::mutex mutex_; // guards what follows
    FifoRecord arrived_{};
    size_t arrived_count_ = 0;
};

Status FifoListener::open() {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    Descriptor lock;
    if (Status status = posix::lock_names(&lock); status != IPC_OK) return status;
    if (Status status = take_name(); status != IPC_OK) return status;
    remove_dead_pairs(path_);
    // Open for writing as well: without a writer of its own it would meet an end whenever a client leaves.
    Descriptor made = open_fifo(path_, O_RDWR);
    if (!made || !posix::identify(path_, &identity_)) {
        const int error = errno;
        unlink(path_.c_str());
        return fail_system(IPC_SYSTEM, error, "cannot listen at %s (%s)", address(), path_.c_str());
    }
    rendezvous_ = std::move(made);
    return IPC_OK;
}

// With the names locked.
Status FifoListener::take_name() {
    if (mkfifo(path_.c_str(), 0600) == 0) return IPC_OK;
    if (errno == EEXIST && remove_dead_fifo(path_) && mkfifo(path_.c_str(), 0600) == 0) return IPC_OK;
    const int error = errno;
    struct stat status {};
    if (lstat(path_.c_str(), &status) != 0)
        return fail_system(IPC_SYSTEM, error, "cannot make the FIFO %s for %s", path_.c_str(), address());
    if (status.st_uid != geteuid())
        return fail(IPC_NO_PERMISSION, "cannot listen at %s: %s belongs to user %u; choose another name", address(),
                    path_.c_str(), status.st_uid);
    if (!S_ISFIFO(status.st_mode))
        return fail(IPC_NAME_IN_USE, "cannot listen at %s: %s is not a FIFO; remove it or choose another name",
                    address(), path_.c_str());
    return fail(IPC_NAME_IN_USE, "cannot listen at %s: another listener has this name; close it or choose another name",
                address());
}

Status FifoListener::accept(const Deadline& deadline, FrameChannel** channel) {
    while (true) {
        const std::shared_lock using_rendezvous(in_use_);
        std::string token;
        if (Status status = next_token(deadline, &token); status != IPC_OK) return status;
        // Whatever becomes of the connection, its names are not needed after this.
        const FifoPair pair(path_, token);
        Descriptor up;
        Descriptor down;
        const Status status = greet(pair, &up, &down);
        if (status == IPC_OK) return make_channel(address_, std::move(up), std::move(down), {}, channel);
        if (status == IPC_CLOSED) return fail(IPC_CLOSED, "the listener at %s was closed here", address());
        // The client died, gave up or misbehaves: that is not the server's failure.
    }
}

Status FifoListener::next_token(const Deadline& deadline, std::string* token) {
    while (true) {
        if (interrupt_.raised()) return fail(IPC_CLOSED, "the listener at %s was closed here", address());
        pollfd waiting{rendezvous_.get(), POLLIN, 0};
        {
            const std::lock_guard lock(mutex_);
            if (find_record(token)) return IPC_OK;
            // One record at a time: those that stay in the FIFO wake the other threads that wait for one.
            const ssize_t count =
                read(rendezvous_.get(), arrived_.data() + arrived_count_, arrived_.size() - arrived_count_);
            if (count > 0) {
                arrived_count_ += static_cast<size_t>(count);
                continue;
            }
        }
        const Status status = interrupt_.wait(&waiting, 1, deadline);
        if (status == IPC_CLOSED) continue;
        if (status == IPC_TIMED_OUT) return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address());
        if (status != IPC_OK) return status;
    }
}

// Takes the record out of what has arrived. Anything can have been written there: what is no record is passed over
// until one may begin.
bool FifoListener::find_record(std::string* token) {
    if (arrived_count_ < fifo_record_size) return false;
    const bool found = read_fifo_record(arrived_.data(), token);
    char* const end = arrived_.data() + fifo_record_size;
    const char* const rest = found ? end : std::find(arrived_.data() + 1, end, fifo_record_start);
    arrived_count_ = static_cast<size_t>(end - rest);
    std::memmove(arrived_.data(), rest, arrived_count_);
    return found;
}

Status FifoListener::greet(const FifoPair& pair, Descriptor* up, Descriptor* down) {
    *down = open_fifo(pair.down(), O_WRONLY);
    if (!*down) return IPC_PEER_CLOSED;
    *up = open_fifo(pair.up(), O_RDONLY);
    if (!*up || !write_bytes(down->get(), &fifo_greeting, 1)) return IPC_PEER_CLOSED;
    // `.down` has nothing to report but the loss of its reader, the client.
    pollfd waiting[2] = {{up->get(), POLLIN, 0}, {down->get(), 0, 0}};
    if (Status status = interrupt_.wait(waiting, 2, Deadline(greeting_limit_ms)); status != IPC_OK) return status;
    return read_greeting(up->get()) ? IPC_OK : IPC_PEER_CLOSED;
}

void FifoListener::close() {
    if (!interrupt_.raise()) return;
    const std::unique_lock alone(in_use_);
    if (!rendezvous_) return;
    posix::remove_name(path_, identity_);
    rendezvous_.reset();
    Descriptor lock;
    if (posix::lock_names(&lock) == IPC_OK) remove_dead_pairs(path_);
}

Status listen_fifo(const Address& address, FrameListener** listener) {
    posix::LocalName name;
    if (Status status = posix::private_name(address, "fifo-", &name); status != IPC_OK) return status;
    auto made = std::make_unique<FifoListener>(address, name.path);
    if (Status status = made->open(); status != IPC_OK) return status;
    *listener = made.release();
    return IPC_OK;
}

// ---- the client's part

Status no_server(const posix::LocalName& name) {
    Descriptor lock;
    if (posix::lock_names(&lock) == IPC_OK) remove_dead_fifo(name.path);
    return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", name.address.c_str());
}

Status open_rendezvous(const posix::LocalName& name, Descriptor* rendezvous) {
    const bool foreign = is_another_users(name.path);
    if (!foreign) *rendezvous = open_fifo(name.path, O_WRONLY);
    if (*rendezvous) return IPC_OK;
    if (!foreign && (errno == ENXIO || errno == ENOENT)) return no_server(name);
    if (foreign || errno == EPERM || errno == EACCES || errno == ELOOP)
        return fail(IPC_NO_PERMISSION, "%s, where %s leads, is not a FIFO of this user: choose another name",
                    name.path.c_str(), name.address.c_str());
    return fail_system(IPC_SYSTEM, errno, "cannot connect to %s", name.address.c_str());
}

Status make_token(std::string* token) {
    std::array<unsigned char, fifo_token_size / 2> random;
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        return fail_system(IPC_SYSTEM, errno, "cannot get random bytes from the system");
    for (const unsigned char byte : random)
        token->append({"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]});
    return IPC_OK;
}

// Waits for a descriptor, and for the loss of the rendezvous' reader: a server that dies is noticed at once.
Status wait_for_server(const posix::LocalName& name, pollfd waiting, int rendezvous, const Deadline& deadline) {
    pollfd entries[2] = {waiting, {rendezvous, 0, 0}};
    while (true) {
        const int ready = posix::poll_until(entries, 2, deadline);
        if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for a FIFO");
        if (ready > 0) return entries[0].revents != 0 ? IPC_OK : no_server(name);
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "the server at %s is there but accepts no client within the time-out",
                        name.address.c_str());
    }
}

Status rendezvous_with_server(const posix::LocalName& name, const Deadline& deadline, Descriptor* up,
                              Descriptor* down) {
    Descriptor rendezvous;
    std::string token;
    if (Status status = open_rendezvous(name, &rendezvous); status != IPC_OK) return status;
    if (Status status = make_token(&token); status != IPC_OK) return status;
    FifoPair pair(name.path, token);
    if (Status status = pair.make(down); status != IPC_OK) return status;
    const FifoRecord record = make_fifo_record(token);
    // Full only while very many clients wait.
    while (!write_bytes(rendezvous.get(), record.data(), record.size())) {
        if (errno != EAGAIN) return no_server(name);
        const pollfd room{rendezvous.get(), POLLOUT, 0};
        if (Status status = wait_for_server(name, room, rendezvous.get(), deadline); status != IPC_OK) return status;
    }
    const pollfd answer{down->get(), POLLIN, 0};
    if (Status status = wait_for_server(name, answer, rendezvous.get(), deadline); status != IPC_OK) return status;
    if (!read_greeting(down->get())) return no_server(name);
    *up = open_fifo(pair.up(), O_WRONLY);
    if (!*up || !write_bytes(up->get(), &fifo_greeting, 1)) return no_server(name);
    return IPC_OK;
}

Status connect_fifo(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    posix::LocalName name;
    Descriptor up;
    Descriptor down;
    if (Status status = posix::private_name(address, "fifo-", &name); status != IPC_OK) return status;
    if (Status status = rendezvous_with_server(name, deadline, &up, &down); status != IPC_OK) return status;
    return make_channel(address, std::move(down), std::move(up), name.path, channel);
}

} // namespace

extern const Transport transport_fifo{listen_fifo, connect_fifo};

} // namespace ipc
