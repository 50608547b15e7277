#pragma once

#include "core/process_fence.hpp"
#include "core/session_over.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

// The part of SessionOver that has many calls in flight. Frames carry each call's number anyway, so nothing here shows on the wire: a
// server that answers one request after another need not know.
namespace ipc {

template <class Frames>
IPC_IN_LINE void SessionOver<Frames>::copy_bytes(void* to, const void* from, size_t length) {
    if constexpr (requires { &Frames::copy_bytes; })
        Frames::copy_bytes(to, from, length);
    else if (length != 0)
        std::memcpy(to, from, length);
}

// ---- the client's end

template <class Frames>
IPC_IN_LINE Status SessionOver<Frames>::submit(const void* request, size_t length, uint64_t tag,
                                               const Deadline& deadline, const HandleGate::Door* receiving) {
    if (length > limit() || lent_ != Lent::nothing) [[unlikely]]
        return cannot_send(length, "ipc_submit");
    if (in_flight_.count() >= CallsInFlight::most) [[unlikely]]
        return too_many_calls();
    if (!frames_->has_calls_in_flight()) [[unlikely]]
        return no_calls_in_flight_here();
    const uint32_t id = next_call_id();
    const size_t at = in_flight_.enter(id, tag);
    if constexpr (requires { &Frames::ready_room; }) {
        // Room that is there already, in the fewest steps. None at all is none for an empty request, either.
        void* room;
        const size_t ready = frames_->ready_room(&room);
        if (length <= ready && ready != 0) [[likely]] {
            copy_bytes(room, request, length);
            if (Status s = frames_->commit_ready(FrameKind::request, id, length)) [[unlikely]]
                return not_submitted(s, at, 0);
            in_flight_.sent(id);
            return IPC_OK;
        }
    }
    return submit_longer(request, length, at, deadline, receiving);
}

template <class Frames>
IPC_OUT_OF_LINE Status SessionOver<Frames>::submit_longer(const void* request, size_t length, size_t at,
                                                          const Deadline& deadline, const HandleGate::Door* receiving) {
    // Between two looks at what has come. Who waits for room is woken when there is some, so this is how long two ends stand still
    // whose ways are both full.
    constexpr int32_t slice_ms = 1;
    const uint32_t id = call_id();
    size_t done = 0;
    // Where a time-out would cut the message there is one attempt, and nothing is taken in.
    const bool goes_on = frames_->goes_on_sending();
    for (int32_t patience_ms = 0;; patience_ms = slice_ms) {
        const Status s = goes_on
                             ? frames_->send_some(FrameKind::request, id, request, length, &done, Deadline(patience_ms))
                             : frames_->send(FrameKind::request, id, request, length, deadline);
        if (s == IPC_OK) break;
        if (s != IPC_TIMED_OUT || frames_->sending_is_broken() || !goes_on || deadline.expired())
            return not_submitted(s, at, done);
        take_in(*receiving);
    }
    in_flight_.sent(id);
    return IPC_OK;
}

// The call was never made. Half a request would be waited for by the peer without end, so the channel goes with it.
template <class Frames>
Status SessionOver<Frames>::not_submitted(Status why, size_t at, size_t done) {
    if (why == IPC_TIMED_OUT && done != 0 && !frames_->sending_is_broken())
        why = give_up(
            fail(why, "the time-out passed half-way through a request (%zu bytes), so the channel is broken: reconnect",
                 done));
    in_flight_.take_back(at, call_id());
    return why;
}

// Takes in what has come, unless a thread is in the receiver's half, or something there is held. Whoever comes to complete meanwhile
// waits: it goes in first and looks at taking_in then, and the fence puts that in order with what is done here.
template <class Frames>
void SessionOver<Frames>::take_in(const HandleGate::Door& receiving) {
    in_flight_.taking_in.store(true, std::memory_order_relaxed);
    fence_all_threads();
    if (HandleGate::is_empty(receiving) && holding_ <= Holding::kept_reply && !out_of_order_)
        while (take_in_one()) {
        }
    in_flight_.taking_in.store(false, std::memory_order_release);
}

template <class Frames>
bool SessionOver<Frames>::take_in_one() {
    const Deadline now(0);
    FrameInfo info{};
    if (frames_->next(&info, now) != IPC_OK) return false; // whatever it is, who completes is told
    if (info.kind != FrameKind::reply && info.kind != FrameKind::fault) return false;
    holding_ = Holding::nothing;
    const size_t at = in_flight_.find(info.id);
    if (at == CallsInFlight::none) {
        if (static_cast<int32_t>(info.id - call_id()) > 0) return false;
        return frames_->release() == IPC_OK; // a late one
    }
    if (in_flight_.is_being_sent(info.id)) {
        break_order("the peer answered a call before it had all of its request: reconnect");
        return false;
    }
    const void* bytes = nullptr;
    if (frames_->view(&bytes, now) != IPC_OK) return false;
    if (!in_flight_.keep(at, info.kind == FrameKind::fault, bytes, info.length)) return false; // no memory: it stays
    return frames_->release() == IPC_OK;
}

template <class Frames>
IPC_IN_LINE Status SessionOver<Frames>::complete(uint64_t* tag, Status* outcome, void* reply, size_t capacity,
                                                 size_t* length, const Deadline& deadline) {
    if constexpr (requires { &Frames::view_next; }) {
        const void* bytes;
        size_t size;
        uint32_t id;
        if (!in_flight_.taking_in.load(std::memory_order_acquire) && in_flight_.arrived.empty() &&
            frames_->view_next(FrameKind::reply, !deadline.immediate(), &bytes, &size, &id)) [[likely]] {
            const size_t at = in_flight_.find(id);
            if (at != CallsInFlight::none && size <= capacity && !in_flight_.is_being_sent(id)) [[likely]] {
                copy_bytes(reply, bytes, size);
                *tag = in_flight_.tag(at);
                *outcome = IPC_OK;
                *length = size;
                in_flight_.end(at);
                in_flight_.completed();
                return frames_->release();
            }
        }
    }
    return complete_longer(tag, outcome, reply, capacity, length, deadline);
}

template <class Frames>
IPC_OUT_OF_LINE Status SessionOver<Frames>::complete_longer(uint64_t* tag, Status* outcome, void* reply,
                                                            size_t capacity, size_t* length, const Deadline& deadline) {
    while (in_flight_.taking_in.load(std::memory_order_acquire))
        std::this_thread::yield(); // a moment: nothing there waits
    if (!in_flight_.arrived.empty()) return hand_out(tag, outcome, reply, capacity, length);
    // On a channel that has ended, a request that nobody can answer any more stands in no call's way.
    if (holding_ > Holding::kept_reply) return end_with_channel(cannot_receive("ipc_complete"), tag, outcome, length);
    FrameInfo info{};
    size_t at = CallsInFlight::none;
    if (Status s = await_call(&info, &at, deadline)) return end_with_channel(s, tag, outcome, length);
    *tag = in_flight_.tag(at);
    *length = info.length;
    if (info.kind == FrameKind::fault) {
        const void* text = nullptr;
        if (Status s = frames_->view(&text, deadline)) return end_with_channel(s, tag, outcome, length);
        *outcome = handler_failed(text, info.length);
        *length = 0;
        frames_->release();
    } else {
        if (info.length > capacity) return too_small(info.length, capacity);
        if (Status s = frames_->take(reply, deadline)) return end_with_channel(s, tag, outcome, length);
        *outcome = IPC_OK;
    }
    in_flight_.end(at);
    in_flight_.completed();
    return IPC_OK;
}

// Waits for the reply, or fault, of some call in flight, which frames_ then holds; late ones are dropped.
template <class Frames>
Status SessionOver<Frames>::await_call(FrameInfo* info, size_t* at, const Deadline& deadline) {
    while (true) {
        if (Status s = frames_->next(info, deadline)) return s;
        if (info->kind != FrameKind::reply && info->kind != FrameKind::fault)
            return unexpected(info->kind, FrameKind::reply);
        holding_ = Holding::nothing; // it may be one that an ipc_call kept
        *at = in_flight_.find(info->id);
        if (*at == CallsInFlight::none) {
            if (static_cast<int32_t>(info->id - call_id()) > 0)
                return break_order("the peer answered a call that was never made: reconnect");
            if (Status s = frames_->release()) return s;
        } else if (!in_flight_.is_being_sent(info->id)) {
            return IPC_OK;
        } else if (deadline.expired()) {
            return fail(IPC_TIMED_OUT, "the time-out passed before any call was over");
        } else {
            std::this_thread::yield(); // the reply outran the thread that submits
        }
    }
}

// One that was taken in while a request waited for room.
template <class Frames>
Status SessionOver<Frames>::hand_out(uint64_t* tag, Status* outcome, void* reply, size_t capacity, size_t* length) {
    CallsInFlight::Arrived& first = in_flight_.arrived.front();
    *tag = first.tag;
    *length = first.is_fault ? 0 : first.length;
    if (*length > capacity) return too_small(first.length, capacity);
    *outcome = first.is_fault ? handler_failed(first.bytes.get(), first.length) : IPC_OK;
    copy_bytes(reply, first.bytes.get(), *length);
    in_flight_.arrived.pop_front();
    in_flight_.completed();
    return IPC_OK;
}

// Nothing more comes: that ends the calls in flight, one by one, with what ended the channel. A failure that leaves the channel good ends nothing.
template <class Frames>
Status SessionOver<Frames>::end_with_channel(Status why, uint64_t* tag, Status* outcome, size_t* length) {
    const Status end = receiving_failure();
    if (end == IPC_OK) return why;
    const size_t at = in_flight_.find_any();
    if (at == CallsInFlight::none) return end;
    *tag = in_flight_.tag(at);
    *outcome = end;
    *length = 0;
    in_flight_.end(at);
    in_flight_.completed();
    return IPC_OK;
}

// ---- the server's end

template <class Frames>
IPC_IN_LINE Status SessionOver<Frames>::defer_request(uint64_t* token) {
    if (holding_ != Holding::request) return no_request("ipc_defer_request");
    if (!frames_->has_calls_in_flight()) [[unlikely]]
        return no_calls_in_flight_here();
    *token = request_id_;
    holding_ = Holding::nothing;
    newest_deferred_.store(request_id_, std::memory_order_relaxed);
    deferred_.store(deferred_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return frames_->release();
}

// As far as can be told without a list of them: a client numbers its calls upwards.
template <class Frames>
bool SessionOver<Frames>::is_deferred(uint64_t token) const {
    return deferred_.load(std::memory_order_acquire) != answered_.load(std::memory_order_relaxed) &&
           token <= UINT32_MAX &&
           static_cast<int32_t>(static_cast<uint32_t>(token) - newest_deferred_.load(std::memory_order_relaxed)) <= 0;
}

template <class Frames>
IPC_IN_LINE Status SessionOver<Frames>::reply_deferred(uint64_t token, const void* reply, size_t length,
                                                       const Deadline& deadline) {
    if (!is_deferred(token)) [[unlikely]]
        return no_deferred_request(token, "ipc_reply_deferred");
    if (length > limit() || lent_ != Lent::nothing) [[unlikely]]
        return cannot_send(length, "ipc_reply_deferred");
    const Status s = frames_->send(FrameKind::reply, static_cast<uint32_t>(token), reply, length, deadline);
    if (!may_try_again(s)) answered_.store(answered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return s;
}

template <class Frames>
Status SessionOver<Frames>::fail_deferred(uint64_t token, const char* text, const Deadline& deadline) {
    if (!is_deferred(token)) return no_deferred_request(token, "ipc_fail_deferred");
    if (lent_ != Lent::nothing) return cannot_send(0, "ipc_fail_deferred");
    const size_t length = std::min(std::strlen(text), limit());
    const Status s = frames_->send(FrameKind::fault, static_cast<uint32_t>(token), text, length, deadline);
    if (!may_try_again(s)) answered_.store(answered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return s;
}

} // namespace ipc
