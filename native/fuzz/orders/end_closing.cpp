// Closing and freeing, by this thread and by another one.
#include "end.hpp"
#include "finding.hpp"

#include <chrono>
#include <thread>

namespace fuzz {

void End::close() {
    {
        const std::lock_guard lock(mutex_);
        ++closings_;
    }
    session_.closing[side_] = true;
    watched_.enter("ipc_channel_close", 0, nullptr);
    ipc_channel_close(channel_);
    watched_.leave();
    trace("%s ipc_channel_close", name_.c_str());
}

void End::close_from_elsewhere() {
    {
        const std::lock_guard lock(mutex_);
        if (freed_) return;
        ++closers_;
        ++closings_;
    }
    session_.closing[side_] = true;
    trace("%s closed by another thread ...", name_.c_str());
    watched_closer_.enter("ipc_channel_close", 0, nullptr);
    ipc_channel_close(channel_);
    watched_closer_.leave();
    trace("%s ... is closed", name_.c_str());
    const std::lock_guard lock(mutex_);
    --closers_;
}

// By the thread that does the steps: no other one may be about to enter a call, but one may be inside closing, if that is
// what has just woken this one.
void End::free() {
    while (true) {
        const std::lock_guard lock(mutex_);
        if (freed_) return;
        if (closers_ == 0 || (closings_ == 1 && first_close_seen_)) {
            freed_ = true;
            break;
        }
    }
    session_.closing[side_] = true;
    trace("%s ipc_channel_free ...", name_.c_str());
    watched_.enter("ipc_channel_free", 0, nullptr);
    ipc_channel_free(channel_);
    watched_.leave();
    trace("%s ... is free", name_.c_str());
}

bool End::free_from_elsewhere(bool idle) {
    {
        const std::lock_guard lock(mutex_);
        if (freed_ || (!idle && left_out(Operation::free))) return false;
        // Between entering and the system's telling that it sleeps the thread has done nothing but the call.
        if (!idle && (!watched_.inside() || !sleeps(watched_.thread()) || !watched_.inside())) return false;
        freed_ = true;
    }
    session_.closing[side_] = true;
    trace("%s freed by another thread ...", name_.c_str());
    watched_closer_.enter("ipc_channel_free", 0, nullptr);
    ipc_channel_free(channel_);
    watched_closer_.leave();
    trace("%s ... is free", name_.c_str());
    return true;
}

bool End::freed() {
    const std::lock_guard lock(mutex_);
    return freed_;
}

} // namespace fuzz
