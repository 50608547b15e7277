// `fifo`: frames over two FIFOs per connection. Clients find the listener through a third one.
#include "core/transport.hpp"
#include "posix/names.hpp"
#include "posix/poll.hpp"
#include "transports/fifo/fifo_listener_posix.hpp"
#include "transports/fifo/fifo_names_posix.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/random.h>

namespace ipc {
namespace {

using posix::Descriptor;

Status listen_fifo(const Address& address, FrameListener** listener) {
    posix::LocalName name;
    if (Status status = posix::private_name(address, "fifo-", &name); status != IPC_OK) return status;
    auto made = std::make_unique<FifoListener>(address, name.path);
    if (Status status = made->open(); status != IPC_OK) return status;
    *listener = made.release();
    return IPC_OK;
}

Status no_server(const posix::LocalName& name, const Deadline& deadline) {
    Descriptor lock;
    if (posix::lock_names(&lock, deadline) == IPC_OK) remove_dead_fifo(name.path);
    return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", name.address.c_str());
}

Status open_handshake_fifo(const posix::LocalName& name, const Deadline& deadline, Descriptor* handshake_fifo) {
    const bool foreign = is_another_users(name.path);
    if (!foreign) *handshake_fifo = open_fifo(name.path, O_WRONLY);
    if (*handshake_fifo) return IPC_OK;
    if (!foreign && (errno == ENXIO || errno == ENOENT)) return no_server(name, deadline);
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

Status accepts_no_client(const posix::LocalName& name) {
    return fail(IPC_TIMED_OUT, "the server at %s is there but accepts no client within the time-out",
                name.address.c_str());
}

// Waits for a descriptor, and for the loss of the handshake FIFO's reader: a server that dies is noticed at once.
Status wait_for_server(const posix::LocalName& name, pollfd waiting, int handshake_fifo, const Deadline& deadline) {
    pollfd entries[2] = {waiting, {handshake_fifo, 0, 0}};
    while (true) {
        const int ready = posix::poll_until(entries, 2, deadline);
        if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for a FIFO");
        if (ready > 0) return entries[0].revents != 0 ? IPC_OK : no_server(name, deadline);
        if (deadline.expired()) return accepts_no_client(name);
    }
}

// Whether the listener is there that a client has just lost.
bool is_there(int handshake_fifo) {
    pollfd entry{handshake_fifo, 0, 0};
    return poll(&entry, 1, 0) == 0;
}

// `*again`: the listener is there, but let go of this client before its last step, because too many others wanted theirs.
Status handshake_with_server(const posix::LocalName& name, const Deadline& deadline, Descriptor* up, Descriptor* down,
                             bool* again) {
    Descriptor handshake_fifo;
    std::string token;
    *again = false;
    if (Status status = open_handshake_fifo(name, deadline, &handshake_fifo); status != IPC_OK) return status;
    if (Status status = make_token(&token); status != IPC_OK) return status;
    FifoPair pair(name.path, token);
    if (Status status = pair.make(deadline, down); status != IPC_OK) return status;
    const FifoRecord record = make_fifo_record(token);
    // Full only while very many clients wait.
    while (!write_fifo(handshake_fifo.get(), record.data(), record.size())) {
        if (errno != EAGAIN) return no_server(name, deadline);
        const pollfd room{handshake_fifo.get(), POLLOUT, 0};
        if (Status status = wait_for_server(name, room, handshake_fifo.get(), deadline); status != IPC_OK)
            return status;
    }
    const pollfd answer{down->get(), POLLIN, 0};
    Greeting greeting;
    do {
        if (Status status = wait_for_server(name, answer, handshake_fifo.get(), deadline); status != IPC_OK)
            return status;
        greeting = read_fifo_greeting(down->get());
    } while (greeting == Greeting::awaited);
    if (greeting == Greeting::here) {
        *up = open_fifo(pair.up(), O_WRONLY);
        if (*up && write_fifo(up->get(), &fifo_greeting, 1)) return IPC_OK;
    }
    *again = is_there(handshake_fifo.get());
    return *again ? accepts_no_client(name) : no_server(name, deadline);
}

Status connect_fifo(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    posix::LocalName name;
    Descriptor up;
    Descriptor down;
    if (Status status = posix::private_name(address, "fifo-", &name); status != IPC_OK) return status;
    Status status = IPC_OK;
    bool again = false;
    do {
        status = handshake_with_server(name, deadline, &up, &down, &again);
    } while (again && !deadline.expired());
    if (status != IPC_OK) return status;
    auto stream = std::make_unique<FifoStream>(std::move(down), std::move(up), name.path);
    if (status = stream->open(); status != IPC_OK) return status;
    *channel = make_fifo_channel(address, std::move(stream));
    return IPC_OK;
}

} // namespace

extern const Transport transport_fifo{listen_fifo, connect_fifo};

} // namespace ipc
