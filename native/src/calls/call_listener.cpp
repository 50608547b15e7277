#include "calls/call_listener.hpp"

#include "core/wait_for_change.hpp"

namespace ipc {

Status CallListener::admit(std::shared_ptr<CallSession> session) {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(IPC_CLOSED, "the listener at %s was closed", address_.c_str());
    if (waiting_.size() >= backlog)
        return fail(IPC_NOT_AVAILABLE, "%zu clients wait at %s already: try again", backlog, address_.c_str());
    waiting_.push_back(std::move(session));
    changed_.notify_one();
    return IPC_OK;
}

Status CallListener::accept(const Deadline& deadline, FrameChannel** channel) {
    std::unique_lock lock(mutex_);
    while (!closed_ && waiting_.empty()) {
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address_.c_str());
        wait_for_change(changed_, lock, deadline);
    }
    if (closed_) return fail(IPC_CLOSED, "the listener at %s was closed here", address_.c_str());
    std::shared_ptr<CallSession> session = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    *channel = make_call_server_channel(std::move(session)).release();
    return IPC_OK;
}

void CallListener::close() {
    std::deque<std::shared_ptr<CallSession>> unaccepted;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        closed_ = true;
        unaccepted.swap(waiting_);
        changed_.notify_all();
    }
    for (const auto& session : unaccepted) session->close();
    stop_listening();
}

} // namespace ipc
