// broadcast.hpp - a part of ipc.hpp, which includes it: publishers and subscribers of a broadcast.
#ifndef IPC_BROADCAST_HPP
#define IPC_BROADCAST_HPP

#include "ipc/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ipc {

// The one writer of a broadcast; each message goes to all subscribers. One thread at a time, but close() may come from any thread.
class Publisher {
  public:
    // Without a publisher; assign one before use.
    Publisher() = default;
    explicit Publisher(const std::string& address) : Publisher(value_of(try_open(address))) {}
    static Result<Publisher> try_open(const std::string& address) noexcept {
        Publisher made;
        ipc_publisher* handle = nullptr;
        const ipc_status status = ipc_publisher_open(address.c_str(), &handle);
        made.handle_.reset(handle);
        return Result<Publisher>(status, std::move(made));
    }
    // Waits only for subscribers with policy=wait; if it throws Error(IPC_TIMED_OUT), nothing was published.
    void publish(const void* message, size_t size, int32_t timeout_ms = infinite) {
        value_of(try_publish(message, size, timeout_ms));
    }
    void publish(std::string_view message, int32_t timeout_ms = infinite) {
        publish(message.data(), message.size(), timeout_ms);
    }
    Result<void> try_publish(const void* message, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_publish(handle_.get(), message, size, timeout_ms));
    }
    size_t subscribers() const {
        size_t count = 0;
        detail::throw_unless_ok(ipc_publisher_subscribers(handle_.get(), &count));
        return count;
    }
    size_t limit() const { return ipc_publisher_limit(handle_.get()); }
    void close() { ipc_publisher_close(handle_.get()); }
    ipc_publisher* handle() const { return handle_.get(); }

  private:
    struct Free {
        void operator()(ipc_publisher* handle) const { ipc_publisher_free(handle); }
    };
    std::unique_ptr<ipc_publisher, Free> handle_;
};

// One reader of a broadcast: receives what is published from now on, at its own pace. One thread at a time, but close() may come from
// any thread.
class Subscriber {
  public:
    struct Received {
        size_t size;   // of the message, in bytes
        uint64_t lost; // messages this subscriber missed just before it; always 0 with policy=wait
    };

    // Without a subscriber; assign one before use.
    Subscriber() = default;
    explicit Subscriber(const std::string& address, int32_t timeout_ms = infinite)
        : Subscriber(value_of(try_open(address, timeout_ms))) {}
    static Result<Subscriber> try_open(const std::string& address, int32_t timeout_ms = 0) noexcept {
        Subscriber made;
        ipc_subscriber* handle = nullptr;
        const ipc_status status = ipc_subscriber_open(address.c_str(), timeout_ms, &handle);
        made.handle_.reset(handle);
        return Result<Subscriber>(status, std::move(made));
    }
    // Copies the next message; if it does not fit, throws Error(IPC_BUFFER_TOO_SMALL) and keeps the message.
    Received receive(void* buffer, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_receive(buffer, capacity, timeout_ms));
    }
    // With IPC_BUFFER_TOO_SMALL the value has the size required.
    Result<Received> try_receive(void* buffer, size_t capacity, int32_t timeout_ms = 0) noexcept {
        Received received{};
        const ipc_status status =
            ipc_subscriber_receive(handle_.get(), buffer, capacity, &received.size, &received.lost, timeout_ms);
        return Result<Received>(status, received);
    }
    void close() { ipc_subscriber_close(handle_.get()); }
    ipc_subscriber* handle() const { return handle_.get(); }

  private:
    struct Free {
        void operator()(ipc_subscriber* handle) const { ipc_subscriber_free(handle); }
    };
    std::unique_ptr<ipc_subscriber, Free> handle_;
};

} // namespace ipc

#endif
