#include "posix/held_signal.hpp"

#include <cerrno>
#include <pthread.h>
#include <time.h>

namespace ipc::posix {

HeldSignal::HeldSignal(int signal) {
    sigemptyset(&held_);
    sigaddset(&held_, signal);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
    was_blocked_ = sigismember(&before_, signal) == 1;
    if (!was_blocked_) return;
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
}

HeldSignal::~HeldSignal() {
    const int error = errno;
    if (!was_blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
}

void HeldSignal::was_raised() {
    if (was_pending_) return;
    const int error = errno;
    const timespec now{};
    while (sigtimedwait(&held_, nullptr, &now) < 0 && errno == EINTR) {
    }
    errno = error;
}

} // namespace ipc::posix
