#pragma once

#include "core/abi_guard.hpp"
#include "core/channel_handle.hpp"
#include "core/out_of_line.hpp"
#include "core/session_in_flight.hpp"

#include <memory>
#include <utility>

namespace ipc {

// A channel's handle with its session over one kind of frame channel: all that a message goes through is compiled into one function.
//
// Such a function must not keep its arguments for what is rare: kept, for whatever reason, they cost more than the gate. So what is rare
// (the channel was closed; a second thread is on the same side, against the rules) is found out before anything else and left to a
// function with the same arguments.
template <class Frames>
class ChannelHandleOver final : public ipc_channel {
  public:
    explicit ChannelHandleOver(std::unique_ptr<Frames> frames) : session_(std::move(frames)) {}

    size_t limit() const noexcept override { return session_.limit(); }
    ipc_status wait_handle(intptr_t* handle) noexcept override {
        const HandleGate::Visit visit(gate_);
        return abi::guarded([&] { return session_.wait_handle(handle); });
    }
    ipc_status interrupt_receiving(bool on) noexcept override {
        const HandleGate::Visit visit(gate_);
        return abi::guarded([&] { return session_.interrupt_receiving(on); });
    }

    // ---- messages

    ipc_status send(const void* message, size_t length, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) IPC_LAMBDA_IN_LINE { return session.send(given...); },
                           message, length, Timeout{timeout_ms});
    }
    ipc_status reserve(size_t length, void** message, int32_t timeout_ms) noexcept override {
        return by<sending, Closed::takes_room_back>(
            [](auto& session, auto... given) { return session.reserve(given...); }, length, message,
            Timeout{timeout_ms});
    }
    ipc_status commit(size_t length, int32_t timeout_ms) noexcept override {
        return by<sending, Closed::takes_room_back>(
            [](auto& session, auto... given) { return session.commit(given...); }, length, Timeout{timeout_ms});
    }
    ipc_status cancel() noexcept override {
        return by<sending, Closed::is_no_matter>([](auto& session, auto... given) { return session.cancel(given...); });
    }
    ipc_status receive(void* buffer, size_t capacity, size_t* length, int32_t timeout_ms) noexcept override {
        return by<receiving>([](auto& session, auto... given) IPC_LAMBDA_IN_LINE { return session.receive(given...); },
                             buffer, capacity, length, Timeout{timeout_ms});
    }
    ipc_status peek(const void** message, size_t* length, int32_t timeout_ms) noexcept override {
        return by<receiving>([](auto& session, auto... given) { return session.peek(given...); }, message, length,
                             Timeout{timeout_ms});
    }
    ipc_status release() noexcept override {
        return by<receiving, Closed::is_no_matter>(
            [](auto& session, auto... given) { return session.release(given...); });
    }
    ipc_status send_batch(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                          int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.send_batch(given...); }, messages, lengths,
                           count, sent, Timeout{timeout_ms});
    }
    ipc_status receive_batch(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count, size_t* count,
                             int32_t timeout_ms) noexcept override {
        return by<receiving>([](auto& session, auto... given) { return session.receive_batch(given...); }, buffer,
                             capacity, lengths, max_count, count, Timeout{timeout_ms});
    }

    // ---- calls. A call is on both sides and needs one door: nobody else may send then.

    ipc_status call(const void* request, size_t request_length, void* reply, size_t capacity, size_t* reply_length,
                    int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.call(given...); }, request, request_length,
                           reply, capacity, reply_length, Timeout{timeout_ms});
    }
    ipc_status receive_kept_reply(void* reply, size_t capacity, size_t* length, int32_t timeout_ms) noexcept override {
        return by<receiving>([](auto& session, auto... given) { return session.receive_kept_reply(given...); }, reply,
                             capacity, length, Timeout{timeout_ms});
    }
    ipc_status call_in_place(const void* request, size_t request_length, const void** reply, size_t* reply_length,
                             int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.call_in_place(given...); }, request,
                           request_length, reply, reply_length, Timeout{timeout_ms});
    }

    ipc_status receive_request(const void** request, size_t* length, int32_t timeout_ms) noexcept override {
        return by<receiving>([](auto& session, auto... given) { return session.receive_request(given...); }, request,
                             length, Timeout{timeout_ms});
    }
    ipc_status reply(const void* reply, size_t length, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.reply(given...); }, reply, length,
                           Timeout{timeout_ms});
    }
    ipc_status reserve_reply(size_t length, void** reply, int32_t timeout_ms) noexcept override {
        return by<sending, Closed::takes_room_back>(
            [](auto& session, auto... given) { return session.reserve_reply(given...); }, length, reply,
            Timeout{timeout_ms});
    }
    ipc_status commit_reply(size_t length, int32_t timeout_ms) noexcept override {
        return by<sending, Closed::takes_room_back>(
            [](auto& session, auto... given) { return session.commit_reply(given...); }, length, Timeout{timeout_ms});
    }
    ipc_status fail_request(const char* text, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.fail_request(given...); }, text,
                           Timeout{timeout_ms});
    }

    // ---- many calls in flight

    ipc_status submit(const void* request, size_t length, uint64_t tag, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.submit(given...); }, request, length, tag,
                           Timeout{timeout_ms}, &doors_[receiving]);
    }
    // On a channel that was closed there may still be calls to be told of.
    ipc_status complete(uint64_t* tag, ipc_status* outcome, void* reply, size_t capacity, size_t* length,
                        int32_t timeout_ms) noexcept override {
        return by<receiving, Closed::is_no_matter>(
            [](auto& session, auto... given) { return session.complete(given...); }, tag, outcome, reply, capacity,
            length, Timeout{timeout_ms});
    }
    ipc_status defer_request(uint64_t* token) noexcept override {
        return by<receiving>([](auto& session, auto... given) { return session.defer_request(given...); }, token);
    }
    ipc_status reply_deferred(uint64_t token, const void* reply, size_t length, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.reply_deferred(given...); }, token, reply,
                           length, Timeout{timeout_ms});
    }
    ipc_status fail_deferred(uint64_t token, const char* text, int32_t timeout_ms) noexcept override {
        return by<sending>([](auto& session, auto... given) { return session.fail_deferred(given...); }, token, text,
                           Timeout{timeout_ms});
    }

    ipc_status serve(ipc_handler handler, void* user, bool* free_it) noexcept override {
        const HandleGate::Visit visit(gate_);
        const ipc_status status = abi::guarded([&] { return serve_until_it_ends(handler, user); });
        *free_it = free_after_serving_;
        return status;
    }
    ipc_status reserve_for_handler(size_t length, void** reply) override {
        return session_.reserve_reply(length, reply, Deadline(IPC_FOREVER));
    }

  private:
    // A time-out on its way to the session, in a register.
    struct Timeout {
        int32_t ms;
        operator Deadline() const { return Deadline(ms); }
    };

    // What a function does on a channel that was closed.
    enum class Closed {
        refuses,         // says so
        takes_room_back, // the same, and there is no reserved room any more
        is_no_matter     // its work
    };

    template <Side side, Closed closed = Closed::refuses, class Work, class... Given>
    ipc_status by(Work work, Given... given) noexcept {
        HandleGate::Door& door = doors_[side];
        const bool refused = closed != Closed::is_no_matter && closed_.load(std::memory_order_relaxed);
        if (HandleGate::is_taken(door) || refused) [[unlikely]]
            return beside<closed, Work>(given...);
        HandleGate::enter(door);
        ipc_status status;
        try {
            status = work(session_, given...);
        } catch (...) {
            status = abi::caught();
        }
        HandleGate::leave(door);
        return status;
    }

    template <Closed closed, class Work, class... Given>
    IPC_OUT_OF_LINE ipc_status beside(Given... given) noexcept {
        const HandleGate::Visit visit(gate_);
        return abi::guarded([&] {
            if (closed == Closed::is_no_matter || !closed_.load(std::memory_order_relaxed))
                return Work()(session_, given...);
            if (closed == Closed::takes_room_back) session_.take_room_back();
            return closed_here();
        });
    }

    ipc_status closed_here() const {
        if (ipc_status status = session_.ended_here()) return status;
        return fail(IPC_CLOSED, "this channel was closed here"); // just now
    }

    void close_session() override { session_.close(); }

    ipc_status serve_until_it_ends(ipc_handler handler, void* user) {
        if (closed_) return closed_here();
        IPC_CHECK(session_.can_serve());
        ipc_reply_writer writer(this);
        ipc_status ended = IPC_OK;
        if (session_.serves_elsewhere())
            ended = session_.serve_elsewhere([&] {
                const Handling here(*this);
                return answer_one(handler, user, writer);
            });
        else
            for (const Handling here(*this); ended == IPC_OK;) ended = answer_one(handler, user, writer);
        // The client has all it wanted, or left while its answer was under way.
        return ended == IPC_PEER_CLOSED ? IPC_OK : ended;
    }

    ipc_status answer_one(ipc_handler handler, void* user, ipc_reply_writer& writer) {
        const Deadline forever(IPC_FOREVER);
        const void* request = nullptr;
        size_t length = 0;
        writer.room = ipc_reply_writer::Room::none;
        writer.ready_length = session_.ready_room(&writer.ready);
        IPC_CHECK(session_.receive_request(&request, &length, forever));
        const ipc_status handled = handler(user, request, length, &writer);
        if (handled != IPC_OK || !writer.failure.empty()) [[unlikely]]
            return fail_one(handled, writer);
        if (writer.room == ipc_reply_writer::Room::ready) [[likely]]
            return session_.reply_in_ready_room(writer.length);
        if (writer.room == ipc_reply_writer::Room::reserved) return session_.commit_reply(writer.length, forever);
        if (writer.ready_length != 0) return session_.reply_in_ready_room(0); // nobody has written there
        return session_.reply(nullptr, 0, forever);
    }

    IPC_OUT_OF_LINE ipc_status fail_one(ipc_status handled, ipc_reply_writer& writer) {
        const std::string text = writer.failure.empty() ? ipc_status_text(handled) : std::move(writer.failure);
        writer.failure.clear();
        if (writer.room == ipc_reply_writer::Room::reserved) session_.cancel();
        return session_.fail_request(text.c_str(), Deadline(IPC_FOREVER));
    }

    SessionOver<Frames> session_;
};

// Takes `self`, which is of this class.
template <class Frames>
std::unique_ptr<ipc_channel> make_handle_over(std::unique_ptr<FrameChannel>& self) {
    return std::make_unique<ChannelHandleOver<Frames>>(std::unique_ptr<Frames>(static_cast<Frames*>(self.release())));
}

} // namespace ipc
