#include "posix/local_socket.hpp"

#include "posix/accept.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <thread>

namespace ipc::posix {
namespace {

// The path in the system's form, which is short: a socket in a folder with a long name is reached through the folder itself, open
// in `folder` for as long as the address is used.
Status socket_address(const LocalName& name, sockaddr_un* address, Descriptor* folder) {
    *address = {};
    address->sun_family = AF_UNIX;
    std::string path = name.path;
    if (path.size() >= sizeof address->sun_path) {
        const size_t slash = path.rfind('/');
        folder->reset(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (*folder) path = "/proc/self/fd/" + std::to_string(folder->get()) + path.substr(slash);
    }
    if (path.size() >= sizeof address->sun_path)
        return fail(IPC_BAD_ADDRESS,
                    "%s needs the path %s of %zu bytes, but a Unix socket's has at most %zu: shorten the name",
                    name.address.c_str(), name.path.c_str(), name.path.size(), sizeof address->sun_path - 1);
    std::memcpy(address->sun_path, path.data(), path.size());
    return IPC_OK;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

bool is_own_socket(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid();
}

// Whether no process has the socket bound. A datagram socket asks, because the system refuses it before it looks at the
// type if there is nobody, and for its type if there is somebody: unlike a stream socket it never becomes a client.
bool is_refused(const sockaddr_un& address) {
    const Descriptor probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return probe && connect(probe.get(), generic(address), sizeof address) != 0 && errno == ECONNREFUSED;
}

// Call with the names locked. True if the name is free afterwards.
bool remove_dead_socket_locked(const LocalName& name) {
    sockaddr_un address;
    Descriptor folder;
    if (!is_own_socket(name.path) || socket_address(name, &address, &folder) != IPC_OK || !is_refused(address))
        return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return is_refused(address) && unlink(name.path.c_str()) == 0;
}

Status name_is_taken(const LocalName& name) {
    struct stat status {};
    const bool there = lstat(name.path.c_str(), &status) == 0;
    if (there && status.st_uid != geteuid())
        return fail(IPC_NO_PERMISSION, "cannot listen at %s: %s belongs to user %u; choose another name",
                    name.address.c_str(), name.path.c_str(), status.st_uid);
    if (there && !S_ISSOCK(status.st_mode))
        return fail(IPC_NAME_IN_USE, "cannot listen at %s: %s is not a socket; remove it or choose another name",
                    name.address.c_str(), name.path.c_str());
    if (!Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)))
        return fail_system(IPC_SYSTEM, errno, "cannot find out whether another listener has the name of %s",
                           name.address.c_str());
    return fail(IPC_NAME_IN_USE, "cannot listen at %s: another listener has this name; close it or choose another name",
                name.address.c_str());
}

Status connect_failed(const LocalName& name, int error, const Deadline& deadline) {
    switch (error) {
    case ECONNREFUSED:
        remove_dead_socket(name.path, deadline);
        [[fallthrough]];
    case ENOENT:
    case ENOTDIR:
        return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", name.address.c_str());
    case EAGAIN:
        return fail(IPC_TIMED_OUT, "the server at %s is there but accepts no client within the time-out",
                    name.address.c_str());
    case EPROTOTYPE:
        return fail(IPC_NOT_OUR_PROTOCOL, "%s, where %s leads, is not a stream socket: check the address",
                    name.path.c_str(), name.address.c_str());
    case EACCES:
    case EPERM:
        return fail_system(IPC_NO_PERMISSION, error, "may not connect to %s", name.address.c_str());
    default:
        return fail_system(IPC_SYSTEM, error, "cannot connect to %s", name.address.c_str());
    }
}

// What stands at the path must be a socket of our own before we connect: connecting would follow a link.
Status check_owner(const LocalName& name, const Deadline& deadline) {
    struct stat status {};
    if (lstat(name.path.c_str(), &status) != 0) return connect_failed(name, errno, deadline);
    if (S_ISLNK(status.st_mode) || status.st_uid != geteuid())
        return fail(IPC_NO_PERMISSION, "%s, where %s leads, is not a socket of this user: choose another name",
                    name.path.c_str(), name.address.c_str());
    if (!S_ISSOCK(status.st_mode))
        return fail(IPC_NO_SERVER, "%s, where %s leads, is not a socket: start the server, or choose another name",
                    name.path.c_str(), name.address.c_str());
    return IPC_OK;
}

} // namespace

Status check_peer_user(const LocalName& name, int connection) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot ask who the peer at %s is", name.address.c_str());
    if (peer.uid != geteuid())
        return fail(IPC_NO_PERMISSION, "the peer at %s belongs to user %u, not to this one: run both as the same user",
                    name.address.c_str(), peer.uid);
    return IPC_OK;
}

void remove_dead_socket(const std::string& path, const Deadline& deadline) {
    Descriptor lock;
    if (is_own_socket(path) && lock_names(&lock, deadline) == IPC_OK)
        remove_dead_socket_locked({.address = {}, .path = path});
}

void forget_dead_server(const std::string& path, int connection, const Deadline& deadline) {
    ucred server{};
    socklen_t length = sizeof server;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &server, &length) != 0) return;
    // A dying process closes its descriptors one by one, perhaps this connection before its listener. Looked at before
    // the name is tried: once it is gone, whoever still has the name bound is another server.
    const Deadline patience = time_to_forget(deadline);
    while (is_own_socket(path)) {
        const bool closing = server.pid > 0 && is_closing_descriptors(server.pid);
        remove_dead_socket(path, patience);
        if (!closing || patience.expired()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

Status connect_local(const LocalName& name, const Deadline& deadline, Descriptor* connection) {
    sockaddr_un address;
    Descriptor folder;
    if (Status status = socket_address(name, &address, &folder); status != IPC_OK) return status;
    if (Status status = check_owner(name, deadline); status != IPC_OK) return status;
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!made) return fail_system(IPC_SYSTEM, errno, "cannot make a socket for %s", name.address.c_str());
    while (true) {
        timeval limit{}; // 0 waits without end
        if (!deadline.forever()) {
            const int64_t left_us = std::max<int64_t>(deadline.left_ns() / 1000, 1);
            limit = {static_cast<time_t>(left_us / 1'000'000), static_cast<suseconds_t>(left_us % 1'000'000)};
        }
        setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect(made.get(), generic(address), sizeof address) == 0) break;
        if (errno != EINTR) return connect_failed(name, errno, deadline);
    }
    const timeval without_end{};
    setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &without_end, sizeof without_end);
    if (Status status = check_peer_user(name, made.get()); status != IPC_OK) return status;
    *connection = std::move(made);
    return IPC_OK;
}

Status LocalListener::open(const LocalName& name, std::unique_ptr<LocalListener>* listener) {
    std::unique_ptr<LocalListener> made(new LocalListener(name));
    if (Status status = made->interrupt_.open(); status != IPC_OK) return status;
    if (Status status = made->take_name(); status != IPC_OK) return status;
    *listener = std::move(made);
    return IPC_OK;
}

Status LocalListener::take_name() {
    sockaddr_un address;
    Descriptor folder;
    if (Status status = socket_address(name_, &address, &folder); status != IPC_OK) return status;
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // The file gets the mode of the socket it is made from: nobody sees it with a wider one.
    if (!made || fchmod(made.get(), 0600) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot make a socket for %s", name_.address.c_str());
    Descriptor lock;
    if (Status status = lock_names(&lock); status != IPC_OK) return status;
    int error = bind(made.get(), generic(address), sizeof address) == 0 ? 0 : errno;
    if (error == EADDRINUSE) {
        if (!remove_dead_socket_locked(name_)) return name_is_taken(name_);
        error = bind(made.get(), generic(address), sizeof address) == 0 ? 0 : errno;
    }
    if (error == EACCES || error == EPERM || error == EROFS)
        return fail_system(IPC_NO_PERMISSION, error, "may not listen at %s (%s)", name_.address.c_str(),
                           name_.path.c_str());
    if (error != 0)
        return fail_system(IPC_SYSTEM, error, "cannot listen at %s (%s)", name_.address.c_str(), name_.path.c_str());
    if (!identify(name_.path, &identity_) || ::listen(made.get(), SOMAXCONN) != 0) {
        error = errno;
        unlink(name_.path.c_str());
        return fail_system(IPC_SYSTEM, error, "cannot listen at %s (%s)", name_.address.c_str(), name_.path.c_str());
    }
    socket_ = std::move(made);
    return IPC_OK;
}

Status LocalListener::accept(const Deadline& deadline, const Admit& admit) {
    return accept_next(socket_.get(), interrupt_, name_.address, deadline, [&](Descriptor* client) -> Status {
        // Another user's client finds the end of the stream; it must not be able to disturb the server's own.
        if (check_peer_user(name_, client->get()) != IPC_OK) return IPC_NO_PERMISSION;
        return admit(client);
    });
}

Status LocalListener::accept(const Deadline& deadline, Descriptor* connection) {
    return accept(deadline, [&](Descriptor* client) {
        *connection = std::move(*client);
        return IPC_OK;
    });
}

void LocalListener::close() {
    if (!socket_ || !interrupt_.raise()) return;
    remove_name(name_.path, identity_);
    shutdown(socket_.get(), SHUT_RDWR);
    refuse_waiting(socket_.get());
}

} // namespace ipc::posix
