#pragma once

#include "core/calls_in_flight.hpp"
#include "core/status.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ipc {

enum class FrameKind : uint32_t;

// What a session has that does not depend on its kind of frame channel: the states of what is lent out and held, and the rare ends of
// its functions, kept out of their way. SessionOver (session_over.hpp) is the session.
class Session {
  public:
    virtual ~Session() = default;
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // For a channel that was closed, whose functions are not asked any more: a failed reserve or commit ends the room.
    void take_room_back() { lent_ = Lent::nothing; }

  protected:
    // What the receiver's half holds between two functions; up to kept_reply it may receive.
    enum class Holding { nothing, kept_reply, message, reply_in_place, request };
    // What the room is for that the sender's half has lent out.
    enum class Lent { nothing, message, reply };

    // The frame channel's functions of these names.
    virtual size_t limit() const = 0;
    virtual Status sending_failure() const = 0;
    virtual Status receiving_failure() const = 0;
    virtual Status give_up(Status status) = 0;

    // All return the status they set. A channel that was closed or is broken says so before it finds fault with its caller.
    Status cannot_send(size_t length, const char* function) const;
    Status too_large(size_t length) const;
    Status no_room(const char* function) const;
    Status no_request(const char* function) const;
    Status no_kept_reply() const;
    Status cannot_receive(const char* function) const;
    Status unexpected(FrameKind got, FrameKind wanted);
    Status too_many_calls() const;
    Status no_calls_in_flight_here() const;
    Status no_deferred_request(uint64_t token, const char* function) const;
    Status break_order(const char* text);
    static Status too_small(size_t length, size_t capacity);
    static Status handler_failed(const void* text, size_t length);

    // sender's half
    Lent lent_ = Lent::nothing;
    size_t reserved_length_ = 0;

    // receiver's half
    Holding holding_ = Holding::nothing;
    bool out_of_order_ = false; // the peer broke the order of kinds and the channel is of no more use
    uint32_t request_id_ = 0;

    // Both halves': a request's number, given by who sends it, and what is in flight.
    std::atomic<uint32_t> call_id_{0};
    CallsInFlight in_flight_;
    std::atomic<uint32_t> deferred_{0}; // counted by the receiver's half ...
    std::atomic<uint32_t> answered_{0}; // ... and by the sender's
    std::atomic<uint32_t> newest_deferred_{0};
};

} // namespace ipc
