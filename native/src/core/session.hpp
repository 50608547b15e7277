#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ipc {

class FrameChannel;
struct FrameInfo;
enum class FrameKind : uint32_t;

// Messages and calls over the frames of one channel: which kinds may come when, call numbers, faults, what is lent out.
// The threads rule is the channel's: one sender, one receiver, close() from anywhere. Twin of managed FramedChannel.
// This is what the C ABI calls; SessionOver (session_over.hpp) implements it for a kind of frame channel.
class Session {
  public:
    virtual ~Session() = default;
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    virtual size_t limit() const = 0;
    virtual void close() = 0;
    virtual Status ended_here() const = 0;
    virtual Status wait_handle(intptr_t* handle) const = 0;

    virtual Status send(const void* message, size_t length, const Deadline& deadline) = 0;
    virtual Status reserve(size_t length, void** message, const Deadline& deadline) = 0;
    virtual Status commit(size_t length, const Deadline& deadline) = 0;
    virtual Status cancel() = 0;
    // For a channel that was closed, whose functions are not asked any more: a failed reserve or commit ends the room.
    void take_room_back() { lent_ = Lent::nothing; }
    virtual Status receive(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) = 0;
    virtual Status peek(const void** message, size_t* length, const Deadline& deadline) = 0;
    virtual Status release() = 0;
    // Batches as in ipc.h; *sent and *count are 0 before.
    virtual Status send_batch(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                              const Deadline& deadline) = 0;
    virtual Status receive_batch(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count, size_t* count,
                                 const Deadline& deadline) = 0;

    virtual Status call(const void* request, size_t request_length, void* reply, size_t capacity, size_t* reply_length,
                        const Deadline& deadline) = 0;
    virtual Status receive_kept_reply(void* reply, size_t capacity, size_t* length, const Deadline& deadline) = 0;
    virtual Status call_in_place(const void* request, size_t request_length, const void** reply, size_t* reply_length,
                                 const Deadline& deadline) = 0;

    virtual Status receive_request(const void** request, size_t* length, const Deadline& deadline) = 0;
    virtual Status reply(const void* reply, size_t length, const Deadline& deadline) = 0;
    virtual Status reserve_reply(size_t length, void** reply, const Deadline& deadline) = 0;
    virtual Status commit_reply(size_t length, const Deadline& deadline) = 0;
    virtual Status fail_request(const char* text, const Deadline& deadline) = 0;
    // As FrameChannel's functions of the same names.
    virtual bool serves_elsewhere() const = 0;
    virtual Status serve_elsewhere(const std::function<Status()>& answer_one) = 0;
    // IPC_OK if nothing is lent out or held.
    virtual Status can_serve() const = 0;

  protected:
    // What the receiver's half holds between two functions; up to kept_reply it may receive.
    enum class Holding { nothing, kept_reply, message, reply_in_place, request };
    // What the room is for that the sender's half has lent out.
    enum class Lent { nothing, message, reply };

    // The frame channel's functions of these names.
    virtual Status sending_failure() const = 0;
    virtual Status receiving_failure() const = 0;
    virtual Status give_up(Status status) = 0;

    // The rare ends of the functions above, kept out of their way. All return the status they set. A channel that was closed
    // or is broken says so before it finds fault with its caller.
    Status cannot_send(size_t length, const char* function) const;
    Status too_large(size_t length) const;
    Status no_room(const char* function) const;
    Status no_request(const char* function) const;
    Status no_kept_reply() const;
    Status cannot_receive(const char* function) const;
    Status unexpected(FrameKind got, FrameKind wanted);
    Status break_order(const char* text);
    static Status too_small(size_t length, size_t capacity);
    static Status handler_failed(const void* text, size_t length);

    // sender's half
    Lent lent_ = Lent::nothing;
    size_t reserved_length_ = 0;

    // receiver's half
    Holding holding_ = Holding::nothing;
    bool out_of_order_ = false; // the peer broke the order of kinds and the channel is of no more use
    uint32_t call_id_ = 0;
    uint32_t request_id_ = 0;
};

} // namespace ipc
