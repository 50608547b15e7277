// queue.hpp - a part of ipc.hpp, which includes it: named queues.
#ifndef IPC_QUEUE_HPP
#define IPC_QUEUE_HPP

#include "ipc/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ipc {

// A named queue: one way, many writers and readers, each message to one reader; any number of threads may use one object.
class Queue {
  public:
    // No queue: only to be assigned to.
    Queue() = default;
    // Opens the queue of this name, making it if there is none.
    explicit Queue(const std::string& address, int32_t timeout_ms = forever)
        : Queue(value_of(try_open(address, timeout_ms))) {}
    static Result<Queue> try_open(const std::string& address, int32_t timeout_ms = 0) noexcept {
        Queue made;
        ipc_queue* handle = nullptr;
        const ipc_status status = ipc_queue_open(address.c_str(), timeout_ms, &handle);
        made.handle_.reset(handle);
        return Result<Queue>(status, std::move(made));
    }
    // Removes the name and what waits under it; false if there was none. Who has the queue open goes on.
    static bool remove(const std::string& address) {
        const ipc_status status = ipc_queue_remove(address.c_str());
        if (status != IPC_NO_SERVER) check(status);
        return status == IPC_OK;
    }

    void enqueue(const void* message, size_t size, int32_t timeout_ms = forever) {
        value_of(try_enqueue(message, size, timeout_ms));
    }
    void enqueue(std::string_view message) { enqueue(message.data(), message.size()); }
    // IPC_TIMED_OUT if the queue stayed full: then nothing was put in.
    Result<void> try_enqueue(const void* message, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_queue_enqueue(handle_.get(), message, size, timeout_ms));
    }
    // Text has no time-out of its own here: a second number would be taken for a size or the other way round.
    Result<void> try_enqueue(std::string_view message) noexcept { return try_enqueue(message.data(), message.size()); }

    // Throws Error(IPC_BUFFER_TOO_SMALL) and leaves the message to whoever comes next.
    size_t dequeue(void* buffer, size_t capacity, int32_t timeout_ms = forever) {
        return value_of(try_dequeue(buffer, capacity, timeout_ms));
    }
    // IPC_TIMED_OUT if the queue stayed empty. With IPC_BUFFER_TOO_SMALL comes the length that is needed; the message is left to
    // whoever comes next.
    Result<size_t> try_dequeue(void* buffer, size_t capacity, int32_t timeout_ms = 0) noexcept {
        size_t size = 0;
        const ipc_status status = ipc_queue_dequeue(handle_.get(), buffer, capacity, &size, timeout_ms);
        return Result<size_t>(status, size);
    }

    size_t limit() const { return ipc_queue_limit(handle_.get()); }
    // From any thread: interrupts whatever is blocked on this object; the queue itself goes on.
    void close() { ipc_queue_close(handle_.get()); }
    ipc_queue* handle() const { return handle_.get(); }

  private:
    struct Free {
        void operator()(ipc_queue* handle) const { ipc_queue_free(handle); }
    };
    std::unique_ptr<ipc_queue, Free> handle_;
};

} // namespace ipc

#endif
