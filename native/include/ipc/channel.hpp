// channel.hpp - a part of ipc.hpp, which includes it: channels and listeners.
#ifndef IPC_CHANNEL_HPP
#define IPC_CHANNEL_HPP

#include "ipc/reply_writer.hpp"
#include "ipc/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ipc {
namespace detail {

// When a time-out ends. It begins when something is first waited for, so that a call whose connection is ready never reads the clock.
class Until {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Until(int32_t timeout_ms) : timeout_ms_(timeout_ms) {}
    bool is_forever() const { return timeout_ms_ == IPC_FOREVER; }
    void begin() { time(); }
    Clock::time_point time() {
        if (time_ == Clock::time_point{}) time_ = Clock::now() + std::chrono::milliseconds(timeout_ms_);
        return time_;
    }
    int32_t left_ms() const {
        if (is_forever() || time_ == Clock::time_point{}) return timeout_ms_;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(time_ - Clock::now()).count();
        return left > 0 ? static_cast<int32_t>(left) : 0;
    }

  private:
    int32_t timeout_ms_;
    Clock::time_point time_{};
};

} // namespace detail

// A call in flight that has ended.
struct Completion {
    uint64_t tag = 0;            // the one given to submit()
    ipc_status outcome = IPC_OK; // IPC_OK, IPC_HANDLER_FAILED, or why the channel ended; ipc_last_error() describes it
    size_t size = 0;             // of the reply, in bytes
};

// One end of a connection. At most one thread sends and one receives at a time; close() may come from any thread.
class Channel {
  public:
    // Without a connection; assign one before use.
    Channel() = default;
    // Takes ownership of the handle.
    explicit Channel(ipc_channel* handle) noexcept : handle_(handle) {}

    static Channel connect(const std::string& address, int32_t timeout_ms = infinite) {
        return value_of(try_connect(address, timeout_ms));
    }
    static Result<Channel> try_connect(const std::string& address, int32_t timeout_ms = 0) noexcept {
        ipc_channel* handle = nullptr;
        const ipc_status status = ipc_connect(address.c_str(), timeout_ms, &handle);
        return Result<Channel>(status, Channel(handle));
    }

    void send(const void* message, size_t size, int32_t timeout_ms = infinite) {
        value_of(try_send(message, size, timeout_ms));
    }
    void send(std::string_view message, int32_t timeout_ms = infinite) {
        send(message.data(), message.size(), timeout_ms);
    }
    Result<void> try_send(const void* message, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_send(handle_.get(), message, size, timeout_ms));
    }
    // Takes no time-out: with one, a call could be mistaken for the overload with a pointer and a size.
    Result<void> try_send(std::string_view message) noexcept { return try_send(message.data(), message.size()); }

    // Copies the next message; if it does not fit, throws Error(IPC_BUFFER_TOO_SMALL) and keeps the message.
    size_t receive(void* buffer, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_receive(buffer, capacity, timeout_ms));
    }
    // The message's length; with IPC_BUFFER_TOO_SMALL the length required.
    Result<size_t> try_receive(void* buffer, size_t capacity, int32_t timeout_ms = 0) noexcept {
        size_t size = 0;
        const ipc_status status = ipc_receive(handle_.get(), buffer, capacity, &size, timeout_ms);
        return Result<size_t>(status, size);
    }
    // The next message in place, until release().
    Bytes peek(int32_t timeout_ms = infinite) { return value_of(try_peek(timeout_ms)); }
    Result<Bytes> try_peek(int32_t timeout_ms = 0) noexcept {
        const void* data = nullptr;
        size_t size = 0;
        const ipc_status status = ipc_peek(handle_.get(), &data, &size, timeout_ms);
        return Result<Bytes>(status, Bytes{static_cast<const std::byte*>(data), size});
    }
    // Gives back the message of peek() or the reply of call_peek(). Never waits.
    void release() { value_of(try_release()); }
    Result<void> try_release() noexcept { return Result<void>(ipc_release(handle_.get())); }
    // Reserves room for a message of at most `size` bytes, until commit() or cancel().
    std::byte* reserve(size_t size, int32_t timeout_ms = infinite) { return value_of(try_reserve(size, timeout_ms)); }
    Result<std::byte*> try_reserve(size_t size, int32_t timeout_ms = 0) noexcept {
        void* room = nullptr;
        const ipc_status status = ipc_reserve(handle_.get(), size, &room, timeout_ms);
        return Result<std::byte*>(status, static_cast<std::byte*>(room));
    }
    // Sends the first `size` bytes of the room. After a time-out the room is kept: commit again, or cancel.
    void commit(size_t size, int32_t timeout_ms = infinite) { value_of(try_commit(size, timeout_ms)); }
    Result<void> try_commit(size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_commit(handle_.get(), size, timeout_ms));
    }
    // Gives the reserved room back without sending it.
    void cancel() { value_of(try_cancel()); }
    Result<void> try_cancel() noexcept { return Result<void>(ipc_cancel(handle_.get())); }

    size_t call(const void* request, size_t size, void* reply, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_call(request, size, reply, capacity, timeout_ms));
    }
    // The reply's length; with IPC_BUFFER_TOO_SMALL the capacity that try_receive_reply needs.
    Result<size_t> try_call(const void* request, size_t size, void* reply, size_t capacity,
                            int32_t timeout_ms = 0) noexcept {
        size_t reply_size = 0;
        const ipc_status status = ipc_call(handle_.get(), request, size, reply, capacity, &reply_size, timeout_ms);
        return Result<size_t>(status, reply_size);
    }
    // The reply in place, until release().
    Bytes call_peek(const void* request, size_t size, int32_t timeout_ms = infinite) {
        return value_of(try_call_peek(request, size, timeout_ms));
    }
    Result<Bytes> try_call_peek(const void* request, size_t request_size, int32_t timeout_ms = 0) noexcept {
        const void* data = nullptr;
        size_t size = 0;
        const ipc_status status = ipc_call_peek(handle_.get(), request, request_size, &data, &size, timeout_ms);
        return Result<Bytes>(status, Bytes{static_cast<const std::byte*>(data), size});
    }
    // Copies the reply of a call that failed with IPC_BUFFER_TOO_SMALL.
    size_t receive_reply(void* reply, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_receive_reply(reply, capacity, timeout_ms));
    }
    Result<size_t> try_receive_reply(void* reply, size_t capacity, int32_t timeout_ms = 0) noexcept {
        size_t reply_size = 0;
        const ipc_status status = ipc_receive_reply(handle_.get(), reply, capacity, &reply_size, timeout_ms);
        return Result<size_t>(status, reply_size);
    }
    // The reply as a string, whatever its length.
    std::string call(std::string_view request, int32_t timeout_ms = infinite) {
        std::string reply(call_peek(request.data(), request.size(), timeout_ms).text());
        release();
        return reply;
    }
#if defined(__cpp_lib_span)
    void send(std::span<const std::byte> message, int32_t timeout_ms = infinite) {
        send(message.data(), message.size(), timeout_ms);
    }
    Result<void> try_send(std::span<const std::byte> message, int32_t timeout_ms = 0) noexcept {
        return try_send(message.data(), message.size(), timeout_ms);
    }
    size_t receive(std::span<std::byte> buffer, int32_t timeout_ms = infinite) {
        return receive(buffer.data(), buffer.size(), timeout_ms);
    }
    Result<size_t> try_receive(std::span<std::byte> buffer, int32_t timeout_ms = 0) noexcept {
        return try_receive(buffer.data(), buffer.size(), timeout_ms);
    }
    size_t call(std::span<const std::byte> request, std::span<std::byte> reply, int32_t timeout_ms = infinite) {
        return call(request.data(), request.size(), reply.data(), reply.size(), timeout_ms);
    }
    Result<size_t> try_call(std::span<const std::byte> request, std::span<std::byte> reply,
                            int32_t timeout_ms = 0) noexcept {
        return try_call(request.data(), request.size(), reply.data(), reply.size(), timeout_ms);
    }
#endif

    // ---- batches of small messages: one publication and at most one wake-up for all of them

    // Sends `count` messages that lie back to back, lengths[i] bytes each, in order. If it throws, some of them may have been sent:
    // try_send_batch says how many.
    void send_batch(const void* messages, const uint32_t* lengths, size_t count, int32_t timeout_ms = infinite) {
        value_of(try_send_batch(messages, lengths, count, timeout_ms));
    }
    // How many were sent, whatever the status: those sent before a time-out stay sent.
    Result<size_t> try_send_batch(const void* messages, const uint32_t* lengths, size_t count,
                                  int32_t timeout_ms = 0) noexcept {
        size_t sent = 0;
        const ipc_status status = ipc_send_batch(handle_.get(), messages, lengths, count, &sent, timeout_ms);
        return Result<size_t>(status, sent);
    }
    // Waits for a message, then takes it and those that have already arrived, at most max_count and as long as the next one fits: back
    // to back in buffer, lengths[i] bytes each. Returns how many.
    size_t receive_batch(void* buffer, size_t capacity, uint32_t* lengths, size_t max_count,
                         int32_t timeout_ms = infinite) {
        return value_of(try_receive_batch(buffer, capacity, lengths, max_count, timeout_ms));
    }
    // With IPC_BUFFER_TOO_SMALL not even the first one fits; it is kept, and lengths[0] is the room it needs.
    Result<size_t> try_receive_batch(void* buffer, size_t capacity, uint32_t* lengths, size_t max_count,
                                     int32_t timeout_ms = 0) noexcept {
        size_t count = 0;
        const ipc_status status =
            ipc_receive_batch(handle_.get(), buffer, capacity, lengths, max_count, &count, timeout_ms);
        return Result<size_t>(status, count);
    }

    // ---- many calls in flight: ipc_submit, ipc_complete

    // Sends a request without waiting for its reply, which complete() returns together with the tag. At most IPC_MOST_IN_FLIGHT
    // calls at a time; one more throws Error(IPC_TOO_MANY_CALLS).
    void submit(const void* request, size_t size, uint64_t tag, int32_t timeout_ms = infinite) {
        value_of(try_submit(request, size, tag, timeout_ms));
    }
    Result<void> try_submit(const void* request, size_t size, uint64_t tag, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_submit(handle_.get(), request, size, tag, timeout_ms));
    }
    // Waits until a call has ended; they end in the order in which the server answers. A call's own failure is the completion's
    // outcome. The channel's failure is thrown only once no call is left in flight.
    Completion complete(void* reply, size_t capacity, int32_t timeout_ms = infinite) {
        return value_of(try_complete(reply, capacity, timeout_ms));
    }
    // With IPC_BUFFER_TOO_SMALL the completion has the tag and the size required; the call stays in flight.
    Result<Completion> try_complete(void* reply, size_t capacity, int32_t timeout_ms = 0) noexcept {
        Completion done;
        const ipc_status status =
            ipc_complete(handle_.get(), &done.tag, &done.outcome, reply, capacity, &done.size, timeout_ms);
        return Result<Completion>(status, done);
    }

    // ---- serving step by step

    // The next request in place, until it is answered, by reply(), commit_reply() or fail_request(), or set aside by defer_request().
    Bytes receive_request(int32_t timeout_ms = infinite) {
        return value_of(try_receive_request(timeout_ms));
    }
    Result<Bytes> try_receive_request(int32_t timeout_ms = 0) noexcept {
        const void* data = nullptr;
        size_t size = 0;
        const ipc_status status = ipc_receive_request(handle_.get(), &data, &size, timeout_ms);
        return Result<Bytes>(status, Bytes{static_cast<const std::byte*>(data), size});
    }
    void reply(const void* reply, size_t size, int32_t timeout_ms = infinite) {
        value_of(try_reply(reply, size, timeout_ms));
    }
    Result<void> try_reply(const void* reply, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_reply(handle_.get(), reply, size, timeout_ms));
    }
    // Reserves room for a reply of at most `size` bytes, until commit_reply() or cancel().
    std::byte* reserve_reply(size_t size, int32_t timeout_ms = infinite) {
        return value_of(try_reserve_reply(size, timeout_ms));
    }
    Result<std::byte*> try_reserve_reply(size_t size, int32_t timeout_ms = 0) noexcept {
        void* room = nullptr;
        const ipc_status status = ipc_reserve_reply(handle_.get(), size, &room, timeout_ms);
        return Result<std::byte*>(status, static_cast<std::byte*>(room));
    }
    // Answers the request by the first `size` bytes of the room. After a time-out the room is kept: commit again, or cancel.
    void commit_reply(size_t size, int32_t timeout_ms = infinite) {
        value_of(try_commit_reply(size, timeout_ms));
    }
    Result<void> try_commit_reply(size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_commit_reply(handle_.get(), size, timeout_ms));
    }
    // The client's call fails with IPC_HANDLER_FAILED and this text.
    void fail_request(const std::string& text, int32_t timeout_ms = infinite) {
        value_of(try_fail_request(text.c_str(), timeout_ms));
    }
    Result<void> try_fail_request(const char* text, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_fail_request(handle_.get(), text, timeout_ms));
    }
    // Sets the request aside under a token and gives its memory back. The next request can then be received, and this one can be
    // answered later by any thread, as long as only one thread sends at a time.
    uint64_t defer_request() {
        return value_of(try_defer_request());
    }
    Result<uint64_t> try_defer_request() noexcept {
        uint64_t token = 0;
        const ipc_status status = ipc_defer_request(handle_.get(), &token);
        return Result<uint64_t>(status, token);
    }
    void reply_deferred(uint64_t token, const void* reply, size_t size, int32_t timeout_ms = infinite) {
        value_of(try_reply_deferred(token, reply, size, timeout_ms));
    }
    Result<void> try_reply_deferred(uint64_t token, const void* reply, size_t size, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_reply_deferred(handle_.get(), token, reply, size, timeout_ms));
    }
    void fail_deferred(uint64_t token, const std::string& text, int32_t timeout_ms = infinite) {
        value_of(try_fail_deferred(token, text.c_str(), timeout_ms));
    }
    Result<void> try_fail_deferred(uint64_t token, const char* text, int32_t timeout_ms = 0) noexcept {
        return Result<void>(ipc_fail_deferred(handle_.get(), token, text, timeout_ms));
    }

    // Answers calls with handler(Bytes request, ReplyWriter& reply) until the peer closes. An exception of the handler fails
    // the client's call and passes its text on.
    template <class Handler>
    void serve(Handler&& handler) {
        value_of(try_serve(std::forward<Handler>(handler)));
    }
    template <class Handler>
    Result<void> try_serve(Handler&& handler) noexcept {
        auto thunk = [](void* user, const void* request, size_t size, ipc_reply_writer* writer) -> ipc_status {
#if IPC_HAS_EXCEPTIONS
            try {
                handle_one<Handler>(user, request, size, writer);
                return IPC_OK;
            } catch (const std::exception& e) {
                ipc_reply_fail(writer, e.what());
            } catch (...) {
                ipc_reply_fail(writer, "unknown exception");
            }
            return IPC_HANDLER_FAILED;
#else
            handle_one<Handler>(user, request, size, writer);
            return IPC_OK;
#endif
        };
        void* const user = const_cast<void*>(static_cast<const void*>(std::addressof(handler)));
        return Result<void>(ipc_serve(handle_.get(), thunk, user));
    }

    // The largest message in bytes that this channel sends or accepts.
    size_t limit() const {
        return ipc_channel_limit(handle_.get());
    }
    // What epoll, Qt or another event loop waits on; throws Error(IPC_NOT_AVAILABLE) where there is none. Before waiting, receive with
    // a time-out of 0 until nothing is left (see ipc_channel_fd).
    intptr_t descriptor() const {
        return value_of(try_descriptor());
    }
    Result<intptr_t> try_descriptor() const noexcept {
        intptr_t descriptor = -1;
        const ipc_status status = ipc_channel_fd(handle_.get(), &descriptor);
        return Result<intptr_t>(status, descriptor);
    }
    // Until interrupt(false), every receiving function of this channel, including one that is waiting now, behaves as if its time-out
    // were 0. May be called from any thread; throws Error(IPC_NOT_AVAILABLE) where the transport cannot (see ipc_channel_interrupt).
    void interrupt(bool on = true) {
        value_of(try_interrupt(on));
    }
    Result<void> try_interrupt(bool on = true) noexcept {
        return Result<void>(ipc_channel_interrupt(handle_.get(), on ? 1 : 0));
    }
    // Interrupts every call that is blocked on this channel. May be called from any thread.
    void close() {
        ipc_channel_close(handle_.get());
    }
    ipc_channel* handle() const {
        return handle_.get();
    }
    explicit operator bool() const {
        return handle_ != nullptr;
    }

  private:
    template <class Handler>
    static void handle_one(void* user, const void* request, size_t size, ipc_reply_writer* writer) {
        ReplyWriter reply(writer);
        (*static_cast<std::remove_reference_t<Handler>*>(user))(Bytes{static_cast<const std::byte*>(request), size},
                                                                reply);
    }
    struct Free {
        void operator()(ipc_channel* handle) const { ipc_channel_free(handle); }
    };
    std::unique_ptr<ipc_channel, Free> handle_;
};

// Listens at an address and accepts clients. Any number of threads may use it at once.
class Listener {
  public:
    // Without an address; assign a listener before use.
    Listener() = default;
    explicit Listener(const std::string& address) : Listener(value_of(try_listen(address))) {}
    static Result<Listener> try_listen(const std::string& address) noexcept {
        Listener made;
        ipc_listener* handle = nullptr;
        const ipc_status status = ipc_listen(address.c_str(), &handle);
        made.handle_.reset(handle);
        return Result<Listener>(status, std::move(made));
    }
    // Where clients connect, with the port that the system chose filled in.
    std::string address() const { return ipc_listener_address(handle_.get()); }
    Channel accept(int32_t timeout_ms = infinite) { return value_of(try_accept(timeout_ms)); }
    Result<Channel> try_accept(int32_t timeout_ms = 0) noexcept {
        ipc_channel* channel = nullptr;
        const ipc_status status = ipc_accept(handle_.get(), timeout_ms, &channel);
        return Result<Channel>(status, Channel(channel));
    }
    void close() { ipc_listener_close(handle_.get()); }
    ipc_listener* handle() const { return handle_.get(); }

  private:
    struct Free {
        void operator()(ipc_listener* handle) const { ipc_listener_free(handle); }
    };
    std::unique_ptr<ipc_listener, Free> handle_;
};

} // namespace ipc

#endif
