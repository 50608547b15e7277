// Closing and freeing, by this thread and by another one, and calling a receiver back.
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
        if (interrupters_ == 0 && (closers_ == 0 || (closings_ == 1 && first_close_seen_))) {
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

void End::set_interrupted(bool on) {
    // Before: the receiver may come back before this thread has.
    if (on) {
        interrupted_ = true;
        ++interruptions_;
    }
    watched_closer_.enter("ipc_channel_interrupt", 0, nullptr);
    const ipc_status status = ipc_channel_interrupt(channel_, on ? 1 : 0);
    watched_closer_.leave();
    trace("%s ipc_channel_interrupt %d by another thread -> %s", name_.c_str(), on, ipc_status_text(status));
    const bool right = status == IPC_CLOSED ? session_.closing[side_].load()
                                            : status == (session_.interruptible ? IPC_OK : IPC_NOT_AVAILABLE);
    if (!right) finding("%s ipc_channel_interrupt returned '%s'", name_.c_str(), ipc_status_text(status));
    if (!on || status == IPC_NOT_AVAILABLE) interrupted_ = false;
}

void End::interrupt_from_elsewhere(uint8_t choice) {
    {
        const std::lock_guard lock(mutex_);
        if (freed_) return;
        ++interrupters_;
    }
    const unsigned call = receiving_;
    if (choice % 3 != 1) set_interrupted(true);
    // Whoever received then comes back, before it is turned off or without that. What comes later may wait.
    if (interrupted_ && call != 0 && !comes_true([&] { return receiving_ != call; }))
        finding("%s: a second after it was called back the receiver still waits", name_.c_str());
    if (choice % 3 != 0) set_interrupted(false);
    const std::lock_guard lock(mutex_);
    --interrupters_;
}

bool End::freed() {
    const std::lock_guard lock(mutex_);
    return freed_;
}

} // namespace fuzz
