#include "posix/interrupt.hpp"

#include "posix/poll.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>

namespace ipc::posix {

Status Interrupt::open() {
    event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event_) return fail_system(IPC_SYSTEM, errno, "cannot make an eventfd");
    return IPC_OK;
}

bool Interrupt::raise() {
    if (raised_.exchange(true, std::memory_order_acq_rel)) return false;
    // Never read back, so the event stays and wakes later waiters as well. The first write cannot fail.
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
    return true;
}

Status Interrupt::wait(pollfd* entries, int count, const Deadline& deadline) const {
    assert(count <= 2);
    pollfd all[3];
    std::copy_n(entries, count, all);
    all[count] = {event_.get(), POLLIN, 0};
    while (true) {
        if (raised()) return IPC_CLOSED;
        const int ready = poll_until(all, static_cast<nfds_t>(count) + 1, deadline);
        if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for a descriptor");
        if (ready > 0) {
            std::copy_n(all, count, entries);
            return all[count].revents != 0 ? IPC_CLOSED : IPC_OK;
        }
        if (deadline.expired()) return IPC_TIMED_OUT;
    }
}

} // namespace ipc::posix
