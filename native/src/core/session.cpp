#include "core/session.hpp"

#include "core/frame_channel.hpp"

#include <algorithm>

namespace ipc {
namespace {

const char* kind_text(FrameKind kind) {
    switch (kind) {
    case FrameKind::message:
        return "a plain message";
    case FrameKind::request:
        return "a request";
    case FrameKind::reply:
        return "a reply";
    case FrameKind::fault:
        return "a fault";
    }
    return "an unknown frame";
}

} // namespace

Status Session::cannot_send(size_t length, const char* function) const {
    if (lent_ == Lent::nothing) return too_large(length);
    if (const Status status = sending_failure()) return status;
    return fail(IPC_WRONG_STATE, "%s while a room is reserved: commit it, or give it back with ipc_cancel", function);
}

Status Session::too_large(size_t length) const {
    if (const Status status = sending_failure()) return status;
    return fail(
        IPC_MESSAGE_TOO_LARGE,
        "a message of %zu bytes is over this channel's limit of %zu: raise it with max= at both ends, or send parts",
        length, limit());
}

// The room that is lent out, if any, is not the one this function ends.
Status Session::no_room(const char* function) const {
    if (const Status status = sending_failure()) return status;
    if (lent_ == Lent::nothing) return fail(IPC_WRONG_STATE, "%s without a reserved room: reserve one first", function);
    return fail(IPC_WRONG_STATE,
                "%s, but the room was reserved by %s: commit it with %s, or give it back with ipc_cancel", function,
                lent_ == Lent::reply ? "ipc_reserve_reply" : "ipc_reserve",
                lent_ == Lent::reply ? "ipc_commit_reply" : "ipc_commit");
}

Status Session::no_request(const char* function) const {
    if (const Status status = sending_failure()) return status;
    return fail(IPC_WRONG_STATE, "%s without a request: call ipc_receive_request first", function);
}

Status Session::no_kept_reply() const {
    if (const Status status = receiving_failure()) return status;
    return fail(IPC_WRONG_STATE,
                "no reply is kept: ipc_receive_reply follows an ipc_call that returned IPC_BUFFER_TOO_SMALL");
}

Status Session::cannot_receive(const char* function) const {
    if (const Status status = receiving_failure()) return status;
    if (holding_ == Holding::request)
        return fail(IPC_WRONG_STATE, "%s while a request is unanswered: reply to it first", function);
    if (holding_ <= Holding::kept_reply && in_flight_.any())
        return fail(IPC_WRONG_STATE, "%s while calls are in flight: get them with ipc_complete first", function);
    return fail(IPC_WRONG_STATE, "%s while a message is held in place: call ipc_release first", function);
}

Status Session::too_many_calls() const {
    if (const Status status = sending_failure()) return status;
    return fail(IPC_TOO_MANY_CALLS, "%u calls are in flight, as many as may be: complete one, then submit again",
                CallsInFlight::most);
}

Status Session::no_calls_in_flight_here() const {
    if (const Status status = sending_failure()) return status;
    return fail(IPC_NOT_AVAILABLE,
                "this transport has one call at a time: use ipc_call and ipc_reply, or unix, pipe, tcp or shm");
}

Status Session::no_deferred_request(uint64_t token, const char* function) const {
    if (const Status status = sending_failure()) return status;
    if (deferred_.load(std::memory_order_acquire) == answered_.load(std::memory_order_relaxed))
        return fail(IPC_WRONG_STATE, "%s while no request is put off: each token is answered once", function);
    return fail(IPC_INVALID_ARGUMENT, "%s: %llu is no token of this channel", function,
                static_cast<unsigned long long>(token));
}

Status Session::break_order(const char* text) {
    out_of_order_ = true;
    return give_up(fail(IPC_NOT_OUR_PROTOCOL, "%s", text));
}

Status Session::unexpected(FrameKind got, FrameKind wanted) {
    fail(IPC_NOT_OUR_PROTOCOL,
         "the peer sent %s where %s was expected: a channel carries either calls or plain messages; reconnect",
         kind_text(got), kind_text(wanted));
    out_of_order_ = true;
    return give_up(IPC_NOT_OUR_PROTOCOL);
}

Status Session::too_small(size_t length, size_t capacity) {
    return fail(IPC_BUFFER_TOO_SMALL, "the message has %zu bytes and the buffer room for %zu: ask again with more room",
                length, capacity);
}

Status Session::handler_failed(const void* text, size_t length) {
    // The text comes from the peer: an error message's worth of it is enough.
    const int shown = static_cast<int>(std::min<size_t>(length, 1000));
    return fail(IPC_HANDLER_FAILED, "the server's handler failed: %.*s", shown, static_cast<const char*>(text));
}

} // namespace ipc
