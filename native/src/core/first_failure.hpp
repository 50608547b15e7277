#pragma once

#include "core/status.hpp"

#include <atomic>
#include <exception>
#include <string>

namespace ipc {

// The failure that broke a channel, or one half of it: kept once, repeated with its error message ever after. From any thread.
class FirstFailure {
  public:
    // Keeps the status with the thread's latest error message, unless there is one already. Returns the one that counts, its
    // error message told.
    Status keep(Status status) noexcept {
        if (claimed_.test_and_set(std::memory_order_acq_rel)) {
            const Status first = repeat();
            return first != IPC_OK ? first : status; // another thread is just about to keep one
        }
        try {
            error_message_ = last_error();
        } catch (const std::exception&) { // without memory the status has to do
        }
        status_.store(status, std::memory_order_release);
        return status;
    }

    bool any() const { return status_.load(std::memory_order_relaxed) != IPC_OK; }

    // What was kept, its error message told; IPC_OK if nothing was.
    Status repeat() const {
        const Status status = status_.load(std::memory_order_acquire);
        if (status == IPC_OK) return IPC_OK;
        return fail(status, "%s", error_message_.empty() ? "the channel is broken: reconnect" : error_message_.c_str());
    }

  private:
    std::atomic<Status> status_{IPC_OK};
    std::atomic_flag claimed_;
    std::string error_message_; // written once, before status_
};

} // namespace ipc
