#pragma once

#include "posix/interrupt.hpp"

#include <functional>
#include <string>

namespace ipc::posix {

// What becomes of a connection that has come, as a blocking, close-on-exec descriptor:
//   IPC_OK       welcome, and taken over
//   IPC_SYSTEM   the system is short of something; the client is dropped and the next one must wait
//   IPC_PEER_CLOSED, IPC_NOT_OUR_PROTOCOL, IPC_NO_PERMISSION   the client is at fault: dropped
//   anything else ends the wait
using Admit = std::function<Status(Descriptor* connection)>;

// Waits for a client that is admitted, at a non-blocking listening socket; clients that have left again without a word are dropped
// unseen. IPC_CLOSED once `interrupt` is raised. While the system is short of something it backs off; IPC_SYSTEM if that has not passed by
// the deadline, or if a client was dropped for it and none has come since. `address` is for error messages. Any number of threads may wait.
Status accept_next(int listening, const Interrupt& interrupt, const std::string& address, const Deadline& deadline,
                   const Admit& admit);

// Whether the other end of a connection has closed or reset it and sent nothing before. Does not wait.
bool has_left(int connection);

// Takes and ends the connections that wait on a listening socket that has been shut down: their clients would wait for
// ever.
void refuse_waiting(int listening);

// How long a wait may go on that has something to do whenever it looks: beyond its deadline only to pass over what is already there,
// and that not for long.
class Patience {
  public:
    explicit Patience(const Deadline& deadline) : deadline_(deadline) {}
    bool is_over() const { return deadline_.expired() && beyond_.expired(); }

  private:
    const Deadline& deadline_;
    const Deadline beyond_{10}; // begins when it is first asked
};

} // namespace ipc::posix
