#include "posix/poll.hpp"

#include <cerrno>

namespace ipc::posix {

int poll_until(pollfd* entries, nfds_t count, const Deadline& deadline) {
    int ready;
    do ready = poll(entries, count, deadline.left_ms());
    while (ready < 0 && errno == EINTR);
    return ready;
}

} // namespace ipc::posix
