#pragma once

#include "core/deadline.hpp"
#include "core/first_failure.hpp"
#include "core/status.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ipc {

// Kinds of frame, docs/wire-formats.md.
enum class FrameKind : uint32_t { message = 1, request = 2, reply = 3, fault = 4 };

struct FrameInfo {
    FrameKind kind;
    uint32_t id;
    size_t length; // of the payload in bytes, already checked against the limit
};

// What a channel transport implements: whole frames in order, both ways. abi.cpp builds messages and calls on it.
// One thread uses the sender's half and one the receiver's half at a time; close() comes from any thread.
// Every function leaves its failure's error message with fail(). A broken channel repeats its first failure; closed here wins over it.
class FrameChannel {
  public:
    explicit FrameChannel(size_t limit) : limit_(limit) {}
    virtual ~FrameChannel() = default;
    FrameChannel(const FrameChannel&) = delete;
    FrameChannel& operator=(const FrameChannel&) = delete;

    size_t limit() const { return limit_; }

    // --- sender's half; callers have checked length <= limit()
    virtual Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) = 0;
    // Sends as much of one frame as goes until the deadline. *done, 0 at first, tells the next attempt where to go on: after IPC_TIMED_OUT
    // with the channel good not all of it is out, and nothing at all if *done is 0. What stands here sends all or nothing.
    virtual Status send_some(FrameKind kind, uint32_t id, const void* data, size_t length, size_t* done,
                             const Deadline& deadline) {
        (void)done;
        return send(kind, id, data, length, deadline);
    }
    // Whether it does: else a time-out half-way through a frame breaks the channel.
    virtual bool goes_on_sending() const { return true; }
    // Whether several requests may be on their way, and be answered in any order.
    virtual bool has_calls_in_flight() const { return true; }
    // Room for a payload of at most `length` bytes; a second reserve replaces the first. Until the commit nothing else is sent,
    // unless the room is given up, of which the channel need not know.
    virtual Status reserve(size_t length, void** data, const Deadline& deadline) = 0;
    // Sends the first `length` bytes of the room (length <= reserved). Timing out with nothing sent keeps the room.
    virtual Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) = 0;

    // Sends plain messages that lie back to back, as many as go at once, and says how many, whatever the status: none where that
    // is no better than one by one, or where the first of them has to wait or be refused as send() does. May wait for the room of several.
    // Lengths may be anything; stops at one over limit().
    virtual Status send_many(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                             const Deadline& deadline) {
        (void)messages, (void)lengths, (void)count, (void)deadline;
        *sent = 0;
        return IPC_OK;
    }

    // --- receiver's half
    // Takes plain messages that are there already, back to back, at most max_count and `capacity` bytes, and returns how many:
    // none where a look is not cheap, or when next() has told of a frame. Anything unusual is left for next() to report.
    virtual size_t take_many(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count) {
        (void)buffer, (void)capacity, (void)lengths, (void)max_count;
        return 0;
    }
    // Waits for the next frame and tells about it; does not consume it: calling again tells the same.
    // IPC_PEER_TOO_LARGE when its length exceeds limit().
    virtual Status next(FrameInfo* info, const Deadline& deadline) = 0;
    // After next(): copies the whole payload to `buffer` (at least info.length bytes) and consumes the frame.
    // Timing out keeps the frame: take or view may be called again.
    virtual Status take(void* buffer, const Deadline& deadline) = 0;
    // After next(): the payload in place, until release().
    virtual Status view(const void** data, const Deadline& deadline) = 0;
    // Consumes the frame of next(), viewed or not. Never waits: what of it is still to come is passed over by the next next(),
    // within that call's deadline.
    virtual Status release() = 0;

    // --- failures
    // IPC_CLOSED, told, once close() was called.
    virtual Status ended_here() const { return IPC_OK; }
    // Why a half can do nothing more, told; IPC_OK as far as is known. The peer's end is no failure of receiving.
    Status sending_failure() const {
        if (const Status status = ended_here()) return status;
        return sending_failure_.repeat();
    }
    Status receiving_failure() const {
        if (const Status status = ended_here()) return status;
        return receiving_failure_.repeat();
    }
    bool sending_is_broken() const { return sending_failure_.any(); }
    // The peer broke the rules of the session: both halves repeat this failure, just told, from now on, and the peer
    // sees the end. Returns the status.
    Status give_up(Status status) {
        // Receiving first: it is what is told now, and a failure that sending has had before would take its text's place.
        status = receiving_failure_.keep(status);
        if (!sending_failure_.any()) sending_failure_.keep(status);
        hang_up();
        return status;
    }

    // For event loops: what becomes readable when there may be something to receive (ipc_channel_fd).
    virtual Status wait_handle(intptr_t* handle) const {
        *handle = -1;
        return fail(IPC_NOT_AVAILABLE,
                    "this transport has nothing that an event loop could wait on: receive on a thread "
                    "of its own, or use unix or tcp");
    }

    // From any thread: until it is turned off again, whoever receives waits no longer than with a deadline of no time, whoever waits now
    // included (ipc_channel_interrupt). For channels without a wait_handle.
    virtual Status interrupt_receiving(bool on) {
        (void)on;
        return fail(IPC_NOT_AVAILABLE,
                    "waiting over this transport cannot be interrupted: wait on ipc_channel_fd where "
                    "there is one, or receive with short time-outs");
    }

    // --- serving: overridden by transports whose own threads deliver requests (calls/call_session.hpp)
    virtual bool serves_elsewhere() const { return false; }
    // Blocks while answer_one, which receives one request and answers it, is run for each request, on whatever thread that
    // came and never twice at once; returns what ends the channel or why answer_one failed.
    virtual Status serve_elsewhere(const std::function<Status()>& answer_one) {
        (void)answer_one;
        return IPC_WRONG_STATE;
    }

    // A handle on `self`, which is this channel, compiled together with it, where nanoseconds count (channel_handle_over.hpp). Null, and
    // `self` left as it is, for the one that serves all other channels.
    virtual ipc_channel* make_own_handle(std::unique_ptr<FrameChannel>& self) {
        (void)self;
        return nullptr;
    }

    // Ends the connection: the peer reads what was sent and then the end; calls blocked here return IPC_CLOSED soon.
    virtual void close() = 0;

  protected:
    // For channels whose waiting ends with a status of what is below them, that only says that it ended: what the sender's half tells.
    // The first failure comes before a time-out, and what is below is closed also when the channel breaks.
    Status sending_ended(Status status);
    // The same for who receives. After the peer's end nothing comes; after any other failure nothing that comes can be trusted.
    Status receiving_ended(Status status);
    // Ends the connection of a channel that is broken: as close(), but what is blocked or comes later repeats the failure.
    virtual void hang_up() {}

    FirstFailure sending_failure_;
    FirstFailure receiving_failure_;

  private:
    size_t limit_;
};

class FrameListener {
  public:
    virtual ~FrameListener() = default;
    virtual Status accept(const Deadline& deadline, FrameChannel** channel) = 0;
    // From any thread; interrupts accept with IPC_CLOSED; removes the name.
    virtual void close() = 0;
    // Where clients connect, with what the system chose put in.
    virtual const char* address() const = 0;
};

} // namespace ipc
