#pragma once

#include "posix/interrupt.hpp"

#include <string>

namespace ipc::posix {

// The next connection to a non-blocking listening socket, as a blocking, close-on-exec descriptor. IPC_CLOSED once
// `interrupt` is raised. `address` is for sentences. Any number of threads may wait.
Status accept_next(int listening, const Interrupt& interrupt, const std::string& address, const Deadline& deadline,
                   Descriptor* connection);

// Takes and ends the connections that wait on a listening socket that has been shut down: their clients would wait for
// ever.
void refuse_waiting(int listening);

} // namespace ipc::posix
