#pragma once

#include "core/handle_gate.hpp"
#include "core/status.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace ipc {

class FrameChannel;

// A handle on `frames`, whose session is compiled together with it where the transport asks for that.
std::unique_ptr<ipc_channel> make_handle(std::unique_ptr<FrameChannel> frames);

} // namespace ipc

// What a channel's handle points to. The functions are those of ipc.h, whose arguments the C ABI has checked; they are virtual here, once, so
// that from there to the memory that is shared no other call remains: each goes in and out of the gate, keeps exceptions in
// and does the session's work. ipc::ChannelHandleOver implements them for a kind of frame channel.
struct ipc_channel {
    virtual ~ipc_channel() = default;
    ipc_channel() = default;
    ipc_channel(const ipc_channel&) = delete;
    ipc_channel& operator=(const ipc_channel&) = delete;

    virtual size_t limit() const noexcept = 0;
    virtual ipc_status wait_handle(intptr_t* handle) noexcept = 0;
    virtual ipc_status interrupt_receiving(bool on) noexcept = 0;

    virtual ipc_status send(const void* message, size_t length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status reserve(size_t length, void** message, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status commit(size_t length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status cancel() noexcept = 0;
    virtual ipc_status receive(void* buffer, size_t capacity, size_t* length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status peek(const void** message, size_t* length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status release() noexcept = 0;
    // *sent and *count are 0 before.
    virtual ipc_status send_batch(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                                  int32_t timeout_ms) noexcept = 0;
    virtual ipc_status receive_batch(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count,
                                     size_t* count, int32_t timeout_ms) noexcept = 0;

    virtual ipc_status call(const void* request, size_t request_length, void* reply, size_t capacity,
                            size_t* reply_length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status receive_kept_reply(void* reply, size_t capacity, size_t* length,
                                          int32_t timeout_ms) noexcept = 0;
    virtual ipc_status call_in_place(const void* request, size_t request_length, const void** reply,
                                     size_t* reply_length, int32_t timeout_ms) noexcept = 0;

    virtual ipc_status receive_request(const void** request, size_t* length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status reply(const void* reply, size_t length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status reserve_reply(size_t length, void** reply, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status commit_reply(size_t length, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status fail_request(const char* text, int32_t timeout_ms) noexcept = 0;

    virtual ipc_status submit(const void* request, size_t length, uint64_t tag, int32_t timeout_ms) noexcept = 0;
    virtual ipc_status complete(uint64_t* tag, ipc_status* outcome, void* reply, size_t capacity, size_t* length,
                                int32_t timeout_ms) noexcept = 0;
    virtual ipc_status defer_request(uint64_t* token) noexcept = 0;
    virtual ipc_status reply_deferred(uint64_t token, const void* reply, size_t length,
                                      int32_t timeout_ms) noexcept = 0;
    virtual ipc_status fail_deferred(uint64_t token, const char* text, int32_t timeout_ms) noexcept = 0;

    // *free_it: the handler has freed the channel, which the caller must do now.
    virtual ipc_status serve(ipc_handler handler, void* user, bool* free_it) noexcept = 0;
    // For serve's handler, which is inside already: reserve_reply that waits as long as it takes.
    virtual ipc_status reserve_for_handler(size_t length, void** reply) = 0;

    void close() noexcept;
    // From the handler of serve, which cannot wait for its own end: closes, and serve tells its caller to free.
    bool free_after_serving() noexcept;
    // Waits until nobody is inside. The channel is closed.
    void await_empty() { gate_.await_empty(doors_); }

  protected:
    // Whose side of a channel a function is on: at most one thread at a time is on each.
    enum Side : unsigned { sending, receiving };

    // Marks the thread that may be in the handler, which can free the channel and cannot wait for its own end.
    class Handling {
      public:
        explicit Handling(ipc_channel& channel) : channel_(channel) { channel_.handling_ = std::this_thread::get_id(); }
        ~Handling() { channel_.handling_ = std::thread::id(); }
        Handling(const Handling&) = delete;
        Handling& operator=(const Handling&) = delete;

      private:
        ipc_channel& channel_;
    };

    virtual void close_session() = 0;

    std::atomic<bool> closed_{false}; // on the line of the table of functions, which each call reads anyway
    std::atomic<bool> free_after_serving_{false};
    std::atomic<std::thread::id> handling_{}; // the thread that may be in the handler of serve
    ipc::HandleGate gate_;
    std::array<ipc::HandleGate::Door, 2> doors_; // who sends, who receives
};

// A handler's way to its reply.
struct ipc_reply_writer {
    explicit ipc_reply_writer(ipc_channel* its_channel) : channel(its_channel) {}

    ipc_channel* channel;
    // Room that is there already, for a reply of at most so many bytes: most replies need no more than to be told of it.
    void* ready = nullptr;
    size_t ready_length = 0;

    enum class Room : uint8_t { none, ready, reserved } room = Room::none;
    size_t length = 0; // of the room
    std::string failure;
};
