// Calls: the client's end and the server's.
#include "content.hpp"
#include "end.hpp"
#include "finding.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace fuzz {

size_t End::length_of_request(size_t length) const {
    constexpr size_t distinct = 8;
    return unsure_ ? std::max(length, distinct) : length;
}

void End::call(size_t length, size_t capacity, int32_t timeout_ms, bool in_place) {
    length = length_of_request(length);
    const bool right = may_receive() && room_ == Room::none;
    unsigned allowed = right ? ok | timed_out | failed : unsigned{wrong_state};
    if (right && !in_place) allowed |= too_small;
    if (length > session_.limit) allowed = too_large | (right ? 0u : unsigned{wrong_state});
    const bool goes_out = right && length <= session_.limit;
    Frame out = frame(Kind::request, length);
    if (goes_out) {
        out.request = ++calls_;
        kept_ = maybe_kept_ = false;
        outgoing().begin(out);
    }
    std::vector<std::byte> exact(in_place ? 0 : capacity);
    const void* bytes = exact.data();
    size_t got = SIZE_MAX;
    const ipc_status status =
        run(in_place ? "ipc_call_peek" : "ipc_call", timeout_ms, Half::both, allowed | order_of(Kind::reply), [&] {
            const std::byte* request = content(side_, out.sequence);
            return in_place ? ipc_call_peek(channel_, request, length, &bytes, &got, timeout_ms)
                            : ipc_call(channel_, request, length, exact.data(), capacity, &got, timeout_ms);
        });
    if (!goes_out) return;
    const bool answered = status == IPC_OK || status == IPC_BUFFER_TOO_SMALL || status == IPC_HANDLER_FAILED;
    outgoing().end(out.sequence, answered ? Way::sent : Way::unknown);
    unsure_ |= !answered;
    if (status == IPC_HANDLER_FAILED) incoming().take_fault(calls_, ipc_last_error());
    if (status == IPC_BUFFER_TOO_SMALL) {
        incoming().may_come(Kind::reply, calls_, got);
        kept_ = true;
        kept_call_ = calls_;
    }
    if (status != IPC_OK) return;
    if (!in_place && got > capacity) finding("ipc_call gave %zu bytes where there was room for %zu", got, capacity);
    const Frame reply = incoming().take(Kind::reply, calls_, bytes, got);
    if (!in_place) return;
    held_ = Held::reply;
    held_frame_ = reply;
    held_bytes_ = bytes;
}

void End::receive_reply(size_t capacity, int32_t timeout_ms) {
    unsigned allowed = kept_ ? ok | too_small | timed_out : unsigned{wrong_state};
    if (held_ != Held::nothing || maybe_kept_) allowed |= wrong_state;
    const bool must_complete = !in_flight_.empty();
    if (must_complete) allowed = wrong_state;
    if (kept_ && !maybe_kept_ && !must_complete && incoming().surely_there(Kind::reply, kept_call_) &&
        !session_.arrives_late)
        allowed &= ~unsigned{timed_out};
    std::vector<std::byte> exact(capacity);
    size_t length = SIZE_MAX;
    const ipc_status status = run("ipc_receive_reply", timeout_ms, Half::receiving, allowed, [&] {
        return ipc_receive_reply(channel_, exact.data(), capacity, &length, timeout_ms);
    });
    if (status == IPC_OK) incoming().take(Kind::reply, kept_call_, exact.data(), length);
    if (status == IPC_BUFFER_TOO_SMALL) incoming().may_come(Kind::reply, kept_call_, length);
    if (status != IPC_BUFFER_TOO_SMALL && status != IPC_TIMED_OUT && !must_complete) kept_ = maybe_kept_ = false;
}

void End::receive_request(int32_t timeout_ms) {
    unsigned allowed = may_receive() ? ok | timed_out : unsigned{wrong_state};
    if (may_receive() && incoming().surely_there(Kind::request, calls_) && !session_.arrives_late)
        allowed &= ~unsigned{timed_out};
    const void* bytes = nullptr;
    size_t length = SIZE_MAX;
    if (may_receive()) drop_kept();
    const ipc_status status = run("ipc_receive_request", timeout_ms, Half::receiving, allowed | order_of(Kind::request),
                                  [&] { return ipc_receive_request(channel_, &bytes, &length, timeout_ms); });
    if (status != IPC_OK) return;
    held_frame_ = incoming().take(Kind::request, calls_, bytes, length);
    held_bytes_ = bytes;
    held_ = Held::request;
    kept_ = maybe_kept_ = false;
}

void End::reply(size_t length, int32_t timeout_ms) {
    unsigned allowed = if_sending(ok | timed_out);
    if (held_ != Held::request) allowed = wrong_state;
    if (held_ == Held::request && length > session_.limit) allowed = too_large | (allowed & wrong_state);
    Frame out = frame(Kind::reply, length);
    out.request = held_frame_.request;
    outgoing().begin(out);
    const ipc_status status = run("ipc_reply", timeout_ms, Half::sending, allowed, [&] {
        return ipc_reply(channel_, content(side_, out.sequence), length, timeout_ms);
    });
    sent(out, status);
    request_done(status);
}

void End::fail_request(int32_t timeout_ms) {
    unsigned allowed = if_sending(ok | timed_out);
    if (held_ != Held::request) allowed = wrong_state;
    Frame out = frame(Kind::fault, 0);
    const std::string text = fault_text(out.sequence);
    out.request = held_frame_.request;
    out.length = text.size();
    outgoing().begin(out);
    const ipc_status status = run("ipc_fail_request", timeout_ms, Half::sending, allowed,
                                  [&] { return ipc_fail_request(channel_, text.c_str(), timeout_ms); });
    sent(out, status);
    request_done(status);
}

// The request is held until its answer is out, or can never be.
void End::request_done(ipc_status status) {
    if (held_ == Held::request && !may_be_tried_again(status)) held_ = Held::nothing;
}

bool End::may_be_tried_again(ipc_status status) {
    return ipc_status_is_callers_mistake(status) != 0 || (status == IPC_TIMED_OUT && !cut_by_time_out(status));
}

void End::serve(uint8_t choices) {
    dice_ = choices * 0x9E3779B97F4A7C15u + 1;
    unsigned allowed = may_receive() ? ok | nothing : unsigned{wrong_state};
    if (room_ != Room::none) allowed = wrong_state;
    if (may_receive()) drop_kept();
    const ipc_handler handler = [](void* user, const void* request, size_t length, ipc_reply_writer* writer) {
        return static_cast<End*>(user)->handle(request, length, writer);
    };
    const ipc_status status = run("ipc_serve", IPC_FOREVER, Half::both, allowed | order_of(Kind::request) | timed_out,
                                  [&] { return ipc_serve(channel_, handler, this); });
    if (answering_) outgoing().end(answer_.sequence, Way::unknown);
    answering_ = false;
    if (status == IPC_OK) sending_may_have_ended_ = true; // the client may have left while its answer was under way
    if (status == IPC_OK && !incoming().anything() &&
        !comes_true([&] { return session_.closing[side_ ^ 1] || session_.cut; }))
        finding("ipc_serve says that the client has closed, which it has not");
}

ipc_status End::handle(const void* request, size_t length, ipc_reply_writer* writer) {
    if (answering_) outgoing().end(answer_.sequence, Way::sent);
    answering_ = false;
    const Frame asked = incoming().take(Kind::request, calls_, request, length);
    dice_ = dice_ * 6364136223846793005u + 1442695040888963407u;
    const auto dice = static_cast<unsigned>(dice_ >> 40);
    trace("%s handles request %u of %zu bytes: %u", name_.c_str(), asked.request, length, dice % 8);
    answer_ = frame(Kind::reply, 0);
    answer_.request = asked.request;
    const auto fail_it = [&](ipc_status status) {
        const std::string text = fault_text(answer_.sequence);
        answer_.kind = Kind::fault;
        answer_.length = text.size();
        ipc_reply_fail(writer, text.c_str());
        outgoing().begin(answer_);
        answering_ = true;
        return status;
    };
    if (dice % 8 >= 3) {
        size_t answered = size_of(static_cast<uint8_t>(dice >> 8), session_.limit);
        void* room = nullptr;
        const ipc_status reserved = ipc_reply_reserve(writer, answered, &room);
        if (answered > session_.limit && reserved == IPC_OK)
            finding("ipc_reply_reserve takes %zu bytes where the limit is %zu", answered, session_.limit);
        if (reserved != IPC_OK) return fail_it(IPC_OK);
        answer_.length = answered;
        if (answered != 0) std::memcpy(room, content(side_, answer_.sequence), answered);
        if (!incoming().anything() && !is_content(side_ ^ 1, asked.sequence, request, length))
            finding("the request changed while it was handled");
    }
    if (dice % 8 < 2) return fail_it(dice % 8 == 0 ? IPC_SYSTEM : IPC_OK);
    outgoing().begin(answer_);
    answering_ = true;
    return IPC_OK;
}

// ---- the end of a run

void End::poll_until_end() {
    if (freed() || left_out("poll")) return;
    check_held();
    if (held_ == Held::request) fail_request(0);
    if (held_ == Held::message || held_ == Held::reply) release();
    const auto start = std::chrono::steady_clock::now();
    while (failure_of(Half::receiving) == IPC_OK && !session_.cut && !session_.closing[side_] &&
           held_ == Held::nothing) {
        if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(3000))
            finding("%s: three seconds of polling have not shown that the peer is gone", name_.c_str());
        if (in_flight_.empty())
            receive(largest_capacity, 0);
        else
            complete(largest_capacity, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void End::drain() {
    if (freed() || session_.cut) return;
    const auto good = [&] {
        return !freed() && !session_.cut && !session_.closing[0] && !session_.closing[1] && failure_[0] == IPC_OK &&
               failure_[1] == IPC_OK;
    };
    constexpr int32_t patience = 1000;
    check_held();
    if (good() && room_ != Room::none) cancel();
    if (good() && held_ == Held::request) fail_request(0);
    if (good() && held_ == Held::request) return; // as below
    if (good() && (held_ == Held::message || held_ == Held::reply)) release();
    Frame next;
    while (good() && incoming().first(&next)) {
        if (next.way != Way::sent) return;
        if (!in_flight_.empty()) {
            if (next.kind == Kind::message || next.kind == Kind::request) return;
            if (!in_flight_.contains(next.request)) return; // dropped before the next one, which may not be there
            complete(largest_capacity, patience);
        } else if (next.kind == Kind::reply || next.kind == Kind::fault) {
            return; // answers to calls that were given up
        } else if (next.kind == Kind::message) {
            receive(next.length, patience);
        } else {
            receive_request(patience);
            if (good()) reply(0, 0);
            if (held_ == Held::request) return; // no room for the answer before the other end has taken those before it
        }
        Frame still;
        if (good() && incoming().first(&still) && still.sequence == next.sequence)
            finding("%s: frame %u, a %s of %zu bytes, was sent and cannot be received", name_.c_str(), next.sequence,
                    name_of(next.kind), next.length);
    }
}

} // namespace fuzz
