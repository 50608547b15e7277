#pragma once

#include "calls/call_session.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace ipc {

// The clients of a transport of calls that wait to be accepted. A transport derives its listener from this, admits a session
// for each new client on whatever thread it learns of it, and calls close() in its destructor.
class CallListener : public FrameListener {
  public:
    // As many clients may wait, as for a socket.
    static constexpr size_t backlog = 4096;

    // `address` is where clients connect.
    explicit CallListener(std::string address) : address_(std::move(address)) {}

    // A new client. IPC_CLOSED once the listener is closed, IPC_NOT_AVAILABLE while too many wait; the client is told.
    Status admit(std::shared_ptr<CallSession> session);

    Status accept(const Deadline& deadline, FrameChannel** channel) final;
    void close() final;
    const char* address() const final { return address_.c_str(); }

  protected:
    // Called once, by close(), after which no session is admitted: removes the name. Channels that were accepted go on.
    virtual void stop_listening() = 0;

  private:
    const std::string address_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<CallSession>> waiting_;
    bool closed_ = false;
};

} // namespace ipc
