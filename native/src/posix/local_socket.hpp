#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "posix/accept.hpp"
#include "posix/descriptor.hpp"
#include "posix/interrupt.hpp"
#include "posix/names.hpp"

#include <memory>
#include <string>

namespace ipc::posix {

// A listening Unix stream socket and its name in the file system: `pipe`, `unix`, and the handover of shared memory.
// accept and close may be called from any thread; destroy it when no thread is inside.
class LocalListener {
  public:
    // Takes the name, after removing a dead one of ours. IPC_NAME_IN_USE when somebody listens there.
    static Status open(const LocalName& name, std::unique_ptr<LocalListener>* listener);
    ~LocalListener() { close(); }
    LocalListener(const LocalListener&) = delete;
    LocalListener& operator=(const LocalListener&) = delete;

    // The next client of our own user that `admit` lets in; clients of other users are dropped.
    Status accept(const Deadline& deadline, const Admit& admit);
    // Whoever comes, as a blocking, close-on-exec descriptor.
    Status accept(const Deadline& deadline, Descriptor* connection);
    // Removes the name, refuses clients that wait, and interrupts accept with IPC_CLOSED.
    void close();
    bool closed() const { return interrupt_.raised(); }
    // For a thread that polls other descriptors as well: readable when a client waits, hung up after close().
    int descriptor() const { return socket_.get(); }

  private:
    explicit LocalListener(const LocalName& name) : name_(name) {}
    Status take_name();

    LocalName name_;
    Descriptor socket_;
    FileIdentity identity_;
    Interrupt interrupt_;
};

// Connects, and checks that name and server belong to our own user. A dead name is removed and gives IPC_NO_SERVER at
// once; the deadline matters only while the server's queue of clients is full. The descriptor is blocking,
// close-on-exec.
Status connect_local(const LocalName& name, const Deadline& deadline, Descriptor* connection);

// Removes the name if it is a socket of our own that nobody has bound any more.
void remove_dead_socket(const std::string& path, const Deadline& deadline);

// For a client whose connection has ended: removes its server's name if the server is dead, or found dying (then within
// 100 ms). Costs one look at the file system when the server closed in order.
void forget_dead_server(const std::string& path, int connection, const Deadline& deadline);

// Checks that the process behind a connected Unix socket belongs to our own user.
Status check_peer_user(const LocalName& name, int connection);

} // namespace ipc::posix
