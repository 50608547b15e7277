#pragma once

#include "core/deadline.hpp"

#include <poll.h>

namespace ipc::posix {

// poll() until the deadline, begun again after a signal; what it returns is what poll() returns, with errno.
int poll_until(pollfd* entries, nfds_t count, const Deadline& deadline);

} // namespace ipc::posix
