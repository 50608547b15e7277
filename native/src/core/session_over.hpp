#pragma once

#include "core/frame_channel.hpp"
#include "core/handle_gate.hpp"
#include "core/out_of_line.hpp"
#include "core/session.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace ipc {

// Messages and calls over the frames of one channel: which kinds may come when, call numbers, faults, what is lent out.
// The threads rule is the channel's: one sender, one receiver, close() from anywhere. Twin of managed FramedChannel.
//
// Over FrameChannel itself it serves every transport; a transport for which nanoseconds count has it over its own final class, so
// that the steps of a call are compiled into one, from the handle (channel_handle_over.hpp) to the ring.
template <class Frames>
class SessionOver final : public Session {
  public:
    explicit SessionOver(std::unique_ptr<Frames> frames) : frames_(std::move(frames)) {}

    size_t limit() const override { return frames_->limit(); }
    void close() { frames_->close(); }
    Status ended_here() const { return frames_->ended_here(); }
    Status wait_handle(intptr_t* handle) const {
        if (Status s = frames_->receiving_failure()) return s;
        return frames_->wait_handle(handle);
    }
    Status interrupt_receiving(bool on) {
        if (Status s = frames_->ended_here()) return s;
        return frames_->interrupt_receiving(on);
    }

    // ---- plain messages

    IPC_IN_LINE Status send(const void* message, size_t length, const Deadline& deadline) {
        if (length > limit() || lent_ != Lent::nothing) [[unlikely]]
            return cannot_send(length, "ipc_send");
        return frames_->send(FrameKind::message, 0, message, length, deadline);
    }

    IPC_IN_LINE Status reserve(size_t length, void** message, const Deadline& deadline) {
        return lend(Lent::message, length, message, deadline);
    }

    IPC_IN_LINE Status commit(size_t length, const Deadline& deadline) {
        if (Status s = check_room(Lent::message, length, "ipc_commit")) return refuse_room(s);
        return end_commit(frames_->commit(FrameKind::message, 0, length, deadline));
    }

    Status cancel() {
        if (lent_ == Lent::nothing)
            return fail(IPC_WRONG_STATE, "ipc_cancel without a reserved room: there is nothing to give back");
        lent_ = Lent::nothing;
        return IPC_OK;
    }

    IPC_IN_LINE Status receive(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) {
        if (Status s = check_can_receive("ipc_receive")) return s;
        // The next message of a stream is there already. Not as a batch of one, which takes more steps: docs/experiments.md.
        if constexpr (requires { &Frames::take_next; }) {
            if (frames_->take_next(FrameKind::message, 0, false, buffer, capacity, length)) [[likely]]
                return IPC_OK;
        }
        FrameInfo info{};
        if (Status s = expect(FrameKind::message, &info, deadline)) return s;
        return copy_out(info, buffer, capacity, length, deadline);
    }

    IPC_IN_LINE Status peek(const void** message, size_t* length, const Deadline& deadline) {
        if (holding_ != Holding::message || out_of_order_)
            if (Status s = check_can_receive("ipc_peek")) return s;
        if constexpr (requires { &Frames::view_next; }) {
            uint32_t id;
            if (frames_->view_next(FrameKind::message, !deadline.immediate(), message, length, &id)) [[likely]] {
                holding_ = Holding::message;
                return IPC_OK;
            }
        }
        FrameInfo info{};
        if (Status s = expect(FrameKind::message, &info, deadline)) return s;
        if (Status s = frames_->view(message, deadline)) return s;
        *length = info.length;
        holding_ = Holding::message;
        return IPC_OK;
    }

    IPC_IN_LINE Status release() {
        if (holding_ != Holding::message && holding_ != Holding::reply_in_place)
            return fail(IPC_WRONG_STATE, "ipc_release without a message held in place: there is nothing to give back");
        holding_ = Holding::nothing;
        return frames_->release();
    }

    // ---- batches

    Status send_batch(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                      const Deadline& deadline) {
        if (lent_ != Lent::nothing) return cannot_send(0, "ipc_send_batch");
        while (*sent < count) {
            size_t at_once;
            if (Status s = frames_->send_many(messages, lengths + *sent, count - *sent, &at_once, deadline)) return s;
            for (size_t i = 0; i < at_once; ++i) messages += lengths[*sent + i];
            *sent += at_once;
            if (at_once != 0) continue;
            // One that is long, or for which there is no room yet, or that shows why nothing can be sent.
            const size_t length = lengths[*sent];
            if (length > limit()) return too_large(length);
            if (Status s = frames_->send(FrameKind::message, 0, messages, length, deadline)) return s;
            messages += length;
            ++*sent;
        }
        return IPC_OK;
    }

    Status receive_batch(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count, size_t* count,
                         const Deadline& deadline) {
        if (Status s = check_can_receive("ipc_receive_batch")) return s;
        *count = frames_->take_many(buffer, capacity, lengths, max_count);
        if (*count != 0) return IPC_OK;
        FrameInfo info{};
        if (Status s = expect(FrameKind::message, &info, deadline)) return s;
        lengths[0] = static_cast<uint32_t>(info.length);
        if (info.length > capacity) return too_small(info.length, capacity);
        if (Status s = frames_->take(buffer, deadline)) return s;
        *count = 1 + frames_->take_many(buffer + info.length, capacity - info.length, lengths + 1, max_count - 1);
        return IPC_OK;
    }

    // ---- calls, the client's end

    IPC_IN_LINE Status call(const void* request, size_t request_length, void* reply, size_t capacity,
                            size_t* reply_length, const Deadline& deadline) {
        if (Status s = send_request(request, request_length, deadline)) return s;
        if constexpr (requires { &Frames::take_next; }) {
            frames_->settle();
            if (frames_->take_next(FrameKind::reply, call_id(), true, reply, capacity, reply_length)) [[likely]]
                return IPC_OK;
        }
        FrameInfo info{};
        if (Status s = await_reply(&info, deadline)) return s;
        Status s = copy_out(info, reply, capacity, reply_length, deadline);
        if (s == IPC_BUFFER_TOO_SMALL) holding_ = Holding::kept_reply;
        return s;
    }

    Status receive_kept_reply(void* reply, size_t capacity, size_t* length, const Deadline& deadline) {
        if (holding_ != Holding::kept_reply) return no_kept_reply();
        if (in_flight_.any()) return cannot_receive("ipc_receive_reply");
        FrameInfo info{};
        if (Status s = frames_->next(&info, deadline)) return s;
        Status s = copy_out(info, reply, capacity, length, deadline);
        if (s == IPC_OK) holding_ = Holding::nothing;
        return s;
    }

    IPC_IN_LINE Status call_in_place(const void* request, size_t request_length, const void** reply,
                                     size_t* reply_length, const Deadline& deadline) {
        if (Status s = send_request(request, request_length, deadline)) return s;
        if constexpr (requires { &Frames::view_next; }) {
            const void* bytes;
            size_t length;
            uint32_t id;
            // If it is the late reply to an earlier call, frames_ holds it now and await_reply drops it.
            if (frames_->view_next(FrameKind::reply, true, &bytes, &length, &id) && id == call_id()) [[likely]] {
                *reply = bytes;
                *reply_length = length;
                holding_ = Holding::reply_in_place;
                return IPC_OK;
            }
        }
        FrameInfo info{};
        if (Status s = await_reply(&info, deadline)) return s;
        if (Status s = frames_->view(reply, deadline)) return s;
        *reply_length = info.length;
        holding_ = Holding::reply_in_place;
        return IPC_OK;
    }

    // ---- calls, the server's end

    IPC_IN_LINE Status receive_request(const void** request, size_t* length, const Deadline& deadline) {
        if (Status s = check_can_receive("ipc_receive_request")) return s;
        if constexpr (requires { &Frames::view_next; }) {
            if (frames_->view_next(FrameKind::request, !deadline.immediate(), request, length, &request_id_))
                [[likely]] {
                holding_ = Holding::request;
                return IPC_OK;
            }
        }
        FrameInfo info{};
        if (Status s = expect(FrameKind::request, &info, deadline)) return s;
        if (Status s = frames_->view(request, deadline)) return s;
        *length = info.length;
        request_id_ = info.id;
        holding_ = Holding::request;
        return IPC_OK;
    }

    IPC_IN_LINE Status reply(const void* reply, size_t length, const Deadline& deadline) {
        if (holding_ != Holding::request) return no_request("ipc_reply");
        if (length > limit() || lent_ != Lent::nothing) [[unlikely]]
            return refuse_reply(cannot_send(length, "ipc_reply"));
        if constexpr (requires { &Frames::answer; })
            return end_request(frames_->answer(request_id_, reply, length, deadline));
        return end_request(frames_->send(FrameKind::reply, request_id_, reply, length, deadline));
    }

    IPC_IN_LINE Status reserve_reply(size_t length, void** reply, const Deadline& deadline) {
        if (holding_ != Holding::request) return refuse_room(no_request("ipc_reserve_reply"));
        return lend(Lent::reply, length, reply, deadline);
    }

    IPC_IN_LINE Status commit_reply(size_t length, const Deadline& deadline) {
        if (holding_ != Holding::request) return refuse_room(no_request("ipc_commit_reply"));
        if (Status s = check_room(Lent::reply, length, "ipc_commit_reply")) return refuse_reply(refuse_room(s));
        return end_request(end_commit(frames_->commit(FrameKind::reply, request_id_, length, deadline)));
    }

    // What ipc_serve asks for before the request comes: room for a reply of at most so many bytes, from before the request until the
    // reply, if there is any without waiting. 0: none.
    size_t ready_room(void** room) {
        if constexpr (requires { &Frames::ready_room; }) return frames_->ready_room(room);
        *room = nullptr;
        return 0;
    }
    // Answers with the first `length` bytes of it; nothing else was reserved or sent meanwhile.
    Status reply_in_ready_room(size_t length) {
        if constexpr (requires { &Frames::ready_room; })
            return end_request(frames_->commit_ready(FrameKind::reply, request_id_, length));
        return no_request("ipc_serve");
    }

    Status fail_request(const char* text, const Deadline& deadline) {
        if (holding_ != Holding::request) return no_request("ipc_fail_request");
        if (lent_ != Lent::nothing) return refuse_reply(cannot_send(0, "ipc_fail_request"));
        const size_t length = std::min(std::strlen(text), limit());
        return end_request(frames_->send(FrameKind::fault, request_id_, text, length, deadline));
    }

    // ---- many calls in flight: session_in_flight.hpp

    // `receiving`: taken while a thread is in the receiver's half.
    IPC_IN_LINE Status submit(const void* request, size_t length, uint64_t tag, const Deadline& deadline,
                              const HandleGate::Door* receiving);
    IPC_IN_LINE Status complete(uint64_t* tag, Status* outcome, void* reply, size_t capacity, size_t* length,
                                const Deadline& deadline);
    IPC_IN_LINE Status defer_request(uint64_t* token);
    IPC_IN_LINE Status reply_deferred(uint64_t token, const void* reply, size_t length, const Deadline& deadline);
    Status fail_deferred(uint64_t token, const char* text, const Deadline& deadline);

    bool serves_elsewhere() const { return frames_->serves_elsewhere(); }

    Status serve_elsewhere(const std::function<Status()>& answer_one) { return frames_->serve_elsewhere(answer_one); }
    Status can_serve() const {
        if (Status s = check_can_receive("ipc_serve")) return s;
        return lent_ == Lent::nothing ? IPC_OK : cannot_send(0, "ipc_serve");
    }

  private:
    Status sending_failure() const override { return frames_->sending_failure(); }
    Status receiving_failure() const override { return frames_->receiving_failure(); }
    Status give_up(Status status) override { return frames_->give_up(status); }

    Status check_can_receive(const char* function) const {
        return holding_ <= Holding::kept_reply && !out_of_order_ && !in_flight_.any() ? IPC_OK
                                                                                      : cannot_receive(function);
    }

    // A second room takes the place of the first, also when there is none to be had.
    IPC_IN_LINE Status lend(Lent what, size_t length, void** room, const Deadline& deadline) {
        lent_ = Lent::nothing;
        if (length > limit()) return too_large(length);
        if (Status s = frames_->reserve(length, room, deadline)) return s;
        lent_ = what;
        reserved_length_ = length;
        return IPC_OK;
    }

    IPC_IN_LINE Status check_room(Lent what, size_t length, const char* function) const {
        if (lent_ != what) return no_room(function);
        if (length <= reserved_length_) [[likely]]
            return IPC_OK;
        return fail(IPC_INVALID_ARGUMENT, "%s of %zu bytes where %zu were reserved: commit at most those", function,
                    length, reserved_length_);
    }

    // The room is gone unless the caller may try again.
    Status end_commit(Status sent) {
        if (!may_try_again(sent)) lent_ = Lent::nothing;
        return sent;
    }

    // Nothing has been sent and the channel is as good as before.
    bool may_try_again(Status sent) const { return sent == IPC_TIMED_OUT && !frames_->sending_is_broken(); }

    IPC_IN_LINE Status expect(FrameKind kind, FrameInfo* info, const Deadline& deadline) {
        while (true) {
            if (Status s = frames_->next(info, deadline)) return s;
            if (info->kind == kind) [[likely]]
                return IPC_OK;
            // The late answer to a call that timed out may still come after the client went over to plain messages.
            const bool late = (info->kind == FrameKind::reply || info->kind == FrameKind::fault) && call_id() != 0 &&
                              static_cast<int32_t>(info->id - call_id()) <= 0;
            if (!late) return unexpected(info->kind, kind);
            holding_ = Holding::nothing; // it may be the one that an ipc_call kept
            if (Status s = frames_->release()) return s;
        }
    }

    Status copy_out(const FrameInfo& info, void* buffer, size_t capacity, size_t* length, const Deadline& deadline) {
        *length = info.length;
        if (info.length > capacity) return too_small(info.length, capacity);
        return frames_->take(buffer, deadline);
    }

    IPC_IN_LINE Status send_request(const void* request, size_t request_length, const Deadline& deadline) {
        if (Status s = check_can_receive("ipc_call")) return s;
        if (request_length > limit() || lent_ != Lent::nothing) [[unlikely]]
            return cannot_send(request_length, "ipc_call");
        if (holding_ == Holding::kept_reply) {
            holding_ = Holding::nothing;
            if (Status s = frames_->release()) return s;
        }
        if constexpr (requires { &Frames::send_awaited; })
            return frames_->send_awaited(next_call_id(), request, request_length, deadline);
        return frames_->send(FrameKind::request, next_call_id(), request, request_length, deadline);
    }

    uint32_t call_id() const { return call_id_.load(std::memory_order_relaxed); }
    uint32_t next_call_id() {
        uint32_t id = call_id() + 1;
        if (id == 0) id = 1; // 0 is the number of plain messages
        call_id_.store(id, std::memory_order_relaxed);
        return id;
    }

    // Waits for the reply to the request just sent, which frames_ then holds.
    Status await_reply(FrameInfo* info, const Deadline& deadline) {
        while (true) {
            if (Status s = frames_->next(info, deadline)) return s;
            if (info->kind == FrameKind::reply && info->id == call_id()) [[likely]]
                return IPC_OK;
            if (Status s = not_the_reply(*info, deadline)) return s;
        }
    }

    // What came instead of the awaited reply: IPC_OK if it was a late one, now dropped.
    Status not_the_reply(const FrameInfo& info, const Deadline& deadline) {
        if (info.kind != FrameKind::reply && info.kind != FrameKind::fault)
            return unexpected(info.kind, FrameKind::reply);
        const auto newer = static_cast<int32_t>(info.id - call_id());
        if (newer > 0) return break_order("the peer answered a call that was never made: reconnect");
        if (newer < 0) return frames_->release();
        const void* text = nullptr;
        if (Status s = frames_->view(&text, deadline)) return s;
        const Status fault = handler_failed(text, info.length);
        Status s = frames_->release();
        return s ? s : fault;
    }

    // The request's memory goes back once its reply is out, whatever became of the reply, unless the caller may try again.
    IPC_IN_LINE Status end_request(Status sent) {
        if (may_try_again(sent)) return sent;
        holding_ = Holding::nothing;
        const Status released = frames_->release();
        return sent ? sent : released;
    }

    // A reply that was not even tried: the request stays with whoever made a mistake, and goes with a broken channel.
    Status refuse_reply(Status why) { return is_callers_mistake(why) ? why : end_request(why); }

    // The same of a room, for what lends one or ends one.
    Status refuse_room(Status why) {
        if (!is_callers_mistake(why)) lent_ = Lent::nothing;
        return why;
    }

    static void copy_bytes(void* to, const void* from, size_t length);
    Status submit_longer(const void* request, size_t length, size_t at, const Deadline& deadline,
                         const HandleGate::Door* receiving);
    Status not_submitted(Status why, size_t at, size_t done);
    void take_in(const HandleGate::Door& receiving);
    bool take_in_one();
    Status complete_longer(uint64_t* tag, Status* outcome, void* reply, size_t capacity, size_t* length,
                           const Deadline& deadline);
    Status hand_out(uint64_t* tag, Status* outcome, void* reply, size_t capacity, size_t* length);
    Status await_call(FrameInfo* info, size_t* at, const Deadline& deadline);
    Status end_with_channel(Status why, uint64_t* tag, Status* outcome, size_t* length);
    bool is_deferred(uint64_t token) const;

    std::unique_ptr<Frames> frames_;
};

} // namespace ipc
