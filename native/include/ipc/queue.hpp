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

// A named queue with many writers and many readers; each message goes to one reader. Any number of threads may use one object.
class Queue {
  public:
    // Without a queue; assign one before use.
    Queue() = default;
    // Opens the queue of this name and creates it if there is none.
    explicit Queue(const std::string& address, int32_t timeout_ms = infinite)
        : Queue(value_of(try_open(address, timeout_ms))) {}
    static Result<Queue> try_open(const std::string& address, int32_t timeout_ms = 0) noexcept {
        Queue made;
        ipc_queue* handle = nullptr;
        const ipc_status status = ipc_queue_open(address.c_str(), timeout_ms, &handle);
        made.handle_.reset(handle);
        return Result<Queue>(status, std::move(made));
    }
    // Removes the name and its messages; false if there was no such queue. Processes that have it open keep using it.
    static bool remove(const std::string& address) {
        const ipc_status status = ipc_queue_remove(address.c_str());
        if (status != IPC_NO_SERVER) detail::throw_unless_ok(status);
        return status == IPC_OK;
    }

    void enqueue(const void* message, size_t size, int32_t timeout_ms = infinite) {
        value_of(try_enqueue(message, size, timeout_ms));
    }
    void enqueue(std::string_view message) { enqueue(message.data(), message.size()); }
    // IPC_TIMED_OUT if the queue stayed full; nothing was added then.
    Result<void> try_enqueue(const void* message, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_queue_enqueue(handle_.get(), message, size, timeout_ms));
    }
    // Takes no time-out: with one, a call could be mistaken for the overload with a pointer and a size.
    Result<void> try_enqueue(std::string_view message) noexcept { return try_enqueue(message.data(), message.size()); }

    // Takes the oldest message. If it does not fit, throws Error(IPC_BUFFER_TOO_SMALL) and leaves it to the next reader.
    size_t dequeue(void* buffer, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_dequeue(buffer, capacity, timeout_ms));
    }
    // IPC_TIMED_OUT if the queue stayed empty. With IPC_BUFFER_TOO_SMALL the value is the length required, and the message is left to
    // the next reader.
    Result<size_t> try_dequeue(void* buffer, size_t capacity, int32_t timeout_ms = 0) noexcept {
        size_t size = 0;
        const ipc_status status = ipc_queue_dequeue(handle_.get(), buffer, capacity, &size, timeout_ms);
        return Result<size_t>(status, size);
    }

    size_t limit() const { return ipc_queue_limit(handle_.get()); }
    // Interrupts every call that is blocked on this object; the queue itself stays. May be called from any thread.
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
