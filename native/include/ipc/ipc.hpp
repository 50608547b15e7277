// ipc.hpp - C++17 over the C ABI: handles that free themselves, failures as exceptions, bytes as spans of pointer and length.
// Header-only; nothing here is compiled into the library. Threads, ownership and time-outs are those of ipc.h.
#ifndef IPC_IPC_HPP
#define IPC_IPC_HPP

#include "ipc/ipc.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ipc {

inline constexpr int32_t forever = IPC_FOREVER;

// A failed call: the status for programs, what() for people.
class Error : public std::runtime_error {
  public:
    explicit Error(ipc_status status) : std::runtime_error(text(status)), status_(status) {}
    ipc_status status() const noexcept { return status_; }

  private:
    static std::string text(ipc_status status) {
        std::string_view detail = ipc_last_error();
        return detail.empty() ? ipc_status_text(status) : std::string(detail);
    }
    ipc_status status_;
};

inline void check(ipc_status status) {
    if (status != IPC_OK) throw Error(status);
}

// Bytes in place: valid as long as its giver says.
struct Bytes {
    const std::byte* data = nullptr;
    size_t size = 0;
    std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

// Where a handler writes its reply.
class ReplyWriter {
  public:
    explicit ReplyWriter(ipc_reply_writer* writer) : writer_(writer) {}
    // Room for a reply of exactly `size` bytes, sent when the handler returns.
    std::byte* reserve(size_t size) {
        void* room = nullptr;
        check(writer_ != nullptr ? ipc_reply_reserve(writer_, size, &room)
                                 : ipc_reserve_reply(channel_, size, &room, forever));
        reserved_ = true;
        size_ = size;
        return static_cast<std::byte*>(room);
    }
    void write(const void* data, size_t size) {
        std::byte* room = reserve(size);
        if (size != 0) std::memcpy(room, data, size);
    }
    void write(std::string_view text) { write(text.data(), text.size()); }

  private:
    // For Server, which receives requests itself.
    friend class Server;
    explicit ReplyWriter(ipc_channel* channel) : channel_(channel) {}
    void fail(const char* text) {
        if (reserved_) check(ipc_cancel(channel_));
        check(ipc_fail_request(channel_, text, forever));
    }
    void send() {
        check(reserved_ ? ipc_commit_reply(channel_, size_, forever) : ipc_reply(channel_, nullptr, 0, forever));
    }

    ipc_reply_writer* writer_ = nullptr;
    ipc_channel* channel_ = nullptr;
    bool reserved_ = false;
    size_t size_ = 0;
};

class Channel {
  public:
    Channel() = default;
    explicit Channel(ipc_channel* handle) : handle_(handle) {}

    static Channel connect(const std::string& address, int32_t timeout_ms = forever) {
        ipc_channel* handle = nullptr;
        check(ipc_connect(address.c_str(), timeout_ms, &handle));
        return Channel(handle);
    }

    void send(const void* message, size_t size, int32_t timeout_ms = forever) {
        check(ipc_send(handle_.get(), message, size, timeout_ms));
    }
    void send(std::string_view message, int32_t timeout_ms = forever) {
        send(message.data(), message.size(), timeout_ms);
    }

    // Copies the next message; throws Error(IPC_BUFFER_TOO_SMALL) and keeps the message if it does not fit.
    size_t receive(void* buffer, size_t capacity, int32_t timeout_ms = forever) {
        size_t size = 0;
        check(ipc_receive(handle_.get(), buffer, capacity, &size, timeout_ms));
        return size;
    }
    // The next message in place until release().
    Bytes peek(int32_t timeout_ms = forever) {
        const void* data = nullptr;
        size_t size = 0;
        check(ipc_peek(handle_.get(), &data, &size, timeout_ms));
        return {static_cast<const std::byte*>(data), size};
    }
    void release() { check(ipc_release(handle_.get())); }
    std::byte* reserve(size_t size, int32_t timeout_ms = forever) {
        void* room = nullptr;
        check(ipc_reserve(handle_.get(), size, &room, timeout_ms));
        return static_cast<std::byte*>(room);
    }
    // If the time-out passes the room is kept: commit again, or cancel.
    void commit(size_t size, int32_t timeout_ms = forever) { check(ipc_commit(handle_.get(), size, timeout_ms)); }
    // Gives the reserved room back unsent.
    void cancel() { check(ipc_cancel(handle_.get())); }

    size_t call(const void* request, size_t size, void* reply, size_t capacity, int32_t timeout_ms = forever) {
        size_t reply_size = 0;
        check(ipc_call(handle_.get(), request, size, reply, capacity, &reply_size, timeout_ms));
        return reply_size;
    }
    // The reply that a call kept because the buffer was too small for it (Error(IPC_BUFFER_TOO_SMALL)).
    size_t receive_reply(void* reply, size_t capacity, int32_t timeout_ms = forever) {
        size_t reply_size = 0;
        check(ipc_receive_reply(handle_.get(), reply, capacity, &reply_size, timeout_ms));
        return reply_size;
    }
    // The reply as a string, whatever its length.
    std::string call(std::string_view request, int32_t timeout_ms = forever) {
        const void* data = nullptr;
        size_t size = 0;
        check(ipc_call_peek(handle_.get(), request.data(), request.size(), &data, &size, timeout_ms));
        std::string reply(static_cast<const char*>(data), size);
        release();
        return reply;
    }

    // Answers calls with handler(Bytes request, ReplyWriter& reply) until the peer closes. What the handler throws fails
    // the call at the client with its text.
    template <class Handler>
    void serve(Handler&& handler) {
        auto thunk = [](void* user, const void* request, size_t size, ipc_reply_writer* writer) -> ipc_status {
            try {
                ReplyWriter reply(writer);
                (*static_cast<std::remove_reference_t<Handler>*>(user))(
                    Bytes{static_cast<const std::byte*>(request), size}, reply);
                return IPC_OK;
            } catch (const std::exception& e) {
                ipc_reply_fail(writer, e.what());
            } catch (...) {
                ipc_reply_fail(writer, "unknown exception");
            }
            return IPC_HANDLER_FAILED;
        };
        check(ipc_serve(handle_.get(), thunk, const_cast<void*>(static_cast<const void*>(std::addressof(handler)))));
    }

    size_t limit() const { return ipc_channel_limit(handle_.get()); }
    // What an event loop waits on; throws Error(IPC_NOT_AVAILABLE) where there is none (ipc_channel_fd).
    intptr_t descriptor() const {
        intptr_t descriptor = -1;
        check(ipc_channel_fd(handle_.get(), &descriptor));
        return descriptor;
    }
    // From any thread: interrupts whatever is blocked on this channel.
    void close() { ipc_channel_close(handle_.get()); }
    ipc_channel* handle() const { return handle_.get(); }
    explicit operator bool() const { return handle_ != nullptr; }

  private:
    struct Free {
        void operator()(ipc_channel* handle) const { ipc_channel_free(handle); }
    };
    std::unique_ptr<ipc_channel, Free> handle_;
};

class Listener {
  public:
    explicit Listener(const std::string& address) {
        ipc_listener* handle = nullptr;
        check(ipc_listen(address.c_str(), &handle));
        handle_.reset(handle);
    }
    // Where clients connect, with what the system chose put in.
    std::string address() const { return ipc_listener_address(handle_.get()); }
    Channel accept(int32_t timeout_ms = forever) {
        ipc_channel* channel = nullptr;
        check(ipc_accept(handle_.get(), timeout_ms, &channel));
        return Channel(channel);
    }
    void close() { ipc_listener_close(handle_.get()); }

  private:
    struct Free {
        void operator()(ipc_listener* handle) const { ipc_listener_free(handle); }
    };
    std::unique_ptr<ipc_listener, Free> handle_;
};

// A named queue: one way, many writers and readers, each message to one reader; any number of threads may use one object.
class Queue {
  public:
    // Opens the queue of this name, making it if there is none.
    explicit Queue(const std::string& address, int32_t timeout_ms = forever) {
        ipc_queue* handle = nullptr;
        check(ipc_queue_open(address.c_str(), timeout_ms, &handle));
        handle_.reset(handle);
    }
    // Removes the name and what waits under it; false if there was none. Who has the queue open goes on.
    static bool remove(const std::string& address) {
        const ipc_status status = ipc_queue_remove(address.c_str());
        if (status != IPC_NO_SERVER) check(status);
        return status == IPC_OK;
    }

    // False if the queue stayed full for the time-out, of which there is none unless given: then nothing was put in.
    bool try_enqueue(const void* message, size_t size, int32_t timeout_ms = 0) {
        return unless_timed_out(ipc_queue_enqueue(handle_.get(), message, size, timeout_ms));
    }
    // Text has no time-out of its own here: a second number would be taken for a size or the other way round.
    bool try_enqueue(std::string_view message) { return try_enqueue(message.data(), message.size()); }
    void enqueue(const void* message, size_t size, int32_t timeout_ms = forever) {
        check(ipc_queue_enqueue(handle_.get(), message, size, timeout_ms));
    }
    void enqueue(std::string_view message) { enqueue(message.data(), message.size()); }

    // False if the queue stayed empty for the time-out. Throws Error(IPC_BUFFER_TOO_SMALL), with what it needs in *size, and
    // leaves the message to whoever comes next.
    bool try_dequeue(void* buffer, size_t capacity, size_t* size, int32_t timeout_ms = 0) {
        return unless_timed_out(ipc_queue_dequeue(handle_.get(), buffer, capacity, size, timeout_ms));
    }
    size_t dequeue(void* buffer, size_t capacity, int32_t timeout_ms = forever) {
        size_t size = 0;
        check(ipc_queue_dequeue(handle_.get(), buffer, capacity, &size, timeout_ms));
        return size;
    }

    size_t limit() const { return ipc_queue_limit(handle_.get()); }
    // From any thread: interrupts whatever is blocked on this object; the queue itself goes on.
    void close() { ipc_queue_close(handle_.get()); }
    ipc_queue* handle() const { return handle_.get(); }

  private:
    static bool unless_timed_out(ipc_status status) {
        if (status != IPC_TIMED_OUT) check(status);
        return status == IPC_OK;
    }
    struct Free {
        void operator()(ipc_queue* handle) const { ipc_queue_free(handle); }
    };
    std::unique_ptr<ipc_queue, Free> handle_;
};

// The one writer of a broadcast: each message goes to all subscribers. One thread at a time; close() from any.
class Publisher {
  public:
    explicit Publisher(const std::string& address) {
        ipc_publisher* handle = nullptr;
        check(ipc_publisher_open(address.c_str(), &handle));
        handle_.reset(handle);
    }
    // Waits only for subscribers that asked to be waited for; throws Error(IPC_TIMED_OUT) with nothing published.
    void publish(const void* message, size_t size, int32_t timeout_ms = forever) {
        check(ipc_publish(handle_.get(), message, size, timeout_ms));
    }
    void publish(std::string_view message, int32_t timeout_ms = forever) {
        publish(message.data(), message.size(), timeout_ms);
    }
    size_t subscribers() const {
        size_t count = 0;
        check(ipc_publisher_subscribers(handle_.get(), &count));
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

// One reader of a broadcast, at its own pace: what is published from now on arrives. One thread at a time; close() from any.
class Subscriber {
  public:
    struct Received {
        size_t size;   // of the message, in bytes
        uint64_t lost; // messages dropped for this reader just before it; 0 if it is waited for
    };

    explicit Subscriber(const std::string& address, int32_t timeout_ms = forever) {
        ipc_subscriber* handle = nullptr;
        check(ipc_subscriber_open(address.c_str(), timeout_ms, &handle));
        handle_.reset(handle);
    }
    // Copies the next message; throws Error(IPC_BUFFER_TOO_SMALL) and keeps the message if it does not fit.
    Received receive(void* buffer, size_t capacity, int32_t timeout_ms = forever) {
        Received received{};
        check(ipc_subscriber_receive(handle_.get(), buffer, capacity, &received.size, &received.lost, timeout_ms));
        return received;
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

#include "ipc/server.hpp"

#endif
