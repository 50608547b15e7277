// Plain messages: what each function may answer in each state, and what must come of it.
#include "content.hpp"
#include "end.hpp"
#include "finding.hpp"

#include <algorithm>
#include <cstring>

namespace fuzz {

Way End::way_of(ipc_status status) {
    if (status == IPC_OK) return Way::sent;
    // A message whose sender was told that the time-out passed never comes whole; nor does one that was refused.
    switch (status) {
    case IPC_TIMED_OUT:
    case IPC_WRONG_STATE:
    case IPC_MESSAGE_TOO_LARGE:
    case IPC_INVALID_ARGUMENT:
        return Way::unsent;
    default:
        return Way::unknown;
    }
}

Frame End::frame(Kind kind, size_t length) {
    Frame made;
    made.kind = kind;
    made.sequence = outgoing().next_sequence();
    made.length = length;
    return made;
}

void End::sent(const Frame& frame, ipc_status status) {
    outgoing().end(frame.sequence, cut_by_time_out(status) ? Way::cut : way_of(status));
}

// What is lent must stay what it was until it is given back.
void End::check_held() {
    if (held_ == Held::nothing || incoming().anything()) return;
    if (!is_content(side_ ^ 1, held_frame_.sequence, held_bytes_, held_frame_.length))
        finding("%s: the %s of %zu bytes it holds in place has changed", name_.c_str(), name_of(held_frame_.kind),
                held_frame_.length);
}

// A receiving function that went to work drops a kept reply, sooner or later.
void End::drop_kept() {
    if (kept_) maybe_kept_ = true;
}

void End::send(size_t length, int32_t timeout_ms) {
    unsigned allowed = if_sending(ok | timed_out);
    if (length > session_.limit) allowed = too_large | (allowed & wrong_state);
    const Frame out = frame(Kind::message, length);
    outgoing().begin(out);
    const ipc_status status = run("ipc_send", timeout_ms, Half::sending, allowed,
                                  [&] { return ipc_send(channel_, content(side_, out.sequence), length, timeout_ms); });
    sent(out, status);
}

void End::receive(size_t capacity, int32_t timeout_ms) {
    unsigned allowed = may_receive() ? ok | timed_out | too_small : unsigned{wrong_state};
    const bool there = may_receive() && incoming().surely_there(Kind::message, calls_);
    if (there && !session_.arrives_late) allowed &= ~unsigned{timed_out};
    size_t length = SIZE_MAX;
    std::vector<std::byte> exact(capacity); // so that a byte too many is seen
    if (may_receive()) drop_kept();
    const ipc_status status = run("ipc_receive", timeout_ms, Half::receiving, allowed | order_of(Kind::message),
                                  [&] { return ipc_receive(channel_, exact.data(), capacity, &length, timeout_ms); });
    if (status == IPC_OK) {
        if (length > capacity) finding("ipc_receive gave %zu bytes where there was room for %zu", length, capacity);
        incoming().take(Kind::message, calls_, exact.data(), length);
        kept_ = maybe_kept_ = false;
    }
    if (status == IPC_BUFFER_TOO_SMALL) {
        if (length <= capacity) finding("%zu bytes are said not to fit into %zu", length, capacity);
        incoming().may_come(Kind::message, calls_, length);
        kept_ = maybe_kept_ = false;
    }
}

void End::reserve(size_t length, int32_t timeout_ms, bool reply) {
    unsigned allowed = ok | timed_out;
    if (length > session_.limit) allowed = too_large;
    if (reply && held_ != Held::request) allowed = wrong_state;
    void* memory = nullptr;
    const ipc_status status = run(reply ? "ipc_reserve_reply" : "ipc_reserve", timeout_ms, Half::sending, allowed, [&] {
        return reply ? ipc_reserve_reply(channel_, length, &memory, timeout_ms)
                     : ipc_reserve(channel_, length, &memory, timeout_ms);
    });
    // A second one gives the first room back, whether it succeeds or not.
    if (status == IPC_WRONG_STATE) return;
    room_ = Room::none;
    if (status != IPC_OK) return;
    room_ = reply ? Room::reply : Room::plain;
    room_memory_ = memory;
    room_length_ = length;
    room_sequence_ = outgoing().next_sequence();
    if (length != 0) std::memcpy(memory, content(side_, room_sequence_), length);
}

void End::commit(size_t length, int32_t timeout_ms, bool reply) {
    const bool right = room_ == (reply ? Room::reply : Room::plain);
    unsigned allowed = right ? ok | timed_out : unsigned{wrong_state};
    if (right && length > room_length_) allowed = invalid;
    if (reply && held_ != Held::request) allowed = wrong_state;
    Frame out;
    out.kind = reply ? Kind::reply : Kind::message;
    out.sequence = room_sequence_;
    out.request = reply ? held_frame_.request : 0;
    out.length = length;
    outgoing().begin(out);
    const ipc_status status = run(reply ? "ipc_commit_reply" : "ipc_commit", timeout_ms, Half::sending, allowed, [&] {
        return reply ? ipc_commit_reply(channel_, length, timeout_ms) : ipc_commit(channel_, length, timeout_ms);
    });
    sent(out, status);
    // With nothing sent it is kept, with what stands in it, and so is the request.
    if (may_be_tried_again(status)) return;
    room_ = Room::none;
    if (reply) request_done(status);
}

void End::cancel() {
    run("ipc_cancel", 0, Half::sending, room_ != Room::none ? ok | nothing : unsigned{wrong_state},
        [&] { return ipc_cancel(channel_); });
    room_ = Room::none;
}

void End::peek(int32_t timeout_ms) {
    const bool again = held_ == Held::message;
    unsigned allowed = may_receive() ? ok | timed_out : again ? unsigned{ok} : unsigned{wrong_state};
    if (may_receive() && incoming().surely_there(Kind::message, calls_) && !session_.arrives_late)
        allowed &= ~unsigned{timed_out};
    const void* bytes = nullptr;
    size_t length = SIZE_MAX;
    if (may_receive()) drop_kept();
    const ipc_status status = run("ipc_peek", timeout_ms, Half::receiving, allowed | order_of(Kind::message),
                                  [&] { return ipc_peek(channel_, &bytes, &length, timeout_ms); });
    if (status != IPC_OK) return;
    if (again) {
        if (!incoming().anything() &&
            (length != held_frame_.length || !is_content(side_ ^ 1, held_frame_.sequence, bytes, length)))
            finding("ipc_peek gave another message the second time");
        held_bytes_ = bytes;
        return;
    }
    held_frame_ = incoming().take(Kind::message, calls_, bytes, length);
    held_bytes_ = bytes;
    held_ = Held::message;
    kept_ = maybe_kept_ = false;
}

void End::release() {
    const bool right = held_ == Held::message || held_ == Held::reply;
    if (right) held_ = Held::nothing;
    run("ipc_release", 0, Half::receiving, right ? ok | nothing : unsigned{wrong_state},
        [&] { return ipc_release(channel_); });
}

void End::send_batch(const Step& step) {
    // Runs of one length, and any lengths; enough to go round the slots of a ring.
    const size_t count = step.capacity % 4 == 0 ? step.capacity * size_t{4} : step.capacity % 24;
    std::vector<uint32_t> lengths(count);
    std::vector<Frame> frames;
    std::vector<std::byte> messages;
    bool any_too_large = false;
    for (size_t i = 0; i < count; ++i) {
        const uint8_t choice = step.size % 3 == 0 ? static_cast<uint8_t>(step.size + i * 7) : step.size;
        size_t length = size_of(choice, session_.limit);
        if (count > 24) length %= 1100;
        any_too_large |= length > session_.limit;
        lengths[i] = static_cast<uint32_t>(length);
        frames.push_back(frame(Kind::message, length));
        outgoing().begin(frames.back());
        const std::byte* bytes = content(side_, frames.back().sequence);
        messages.insert(messages.end(), bytes, bytes + length);
    }
    size_t done = SIZE_MAX;
    const int32_t timeout = timeout_of(step.timeout);
    unsigned allowed = if_sending(ok | timed_out);
    if (any_too_large) allowed |= too_large;
    if (count == 0) allowed |= ok | nothing;
    messages.reserve(1); // no null pointer
    const ipc_status status = run("ipc_send_batch", timeout, Half::sending, allowed, [&] {
        return ipc_send_batch(channel_, messages.data(), lengths.data(), count, &done, timeout);
    });
    if (done > count || (status == IPC_OK && done != count))
        finding("ipc_send_batch of %zu messages says '%s' and that it sent %zu", count, ipc_status_text(status), done);
    for (size_t i = 0; i < count; ++i) {
        if (i == done)
            sent(frames[i], status);
        else
            outgoing().end(frames[i].sequence, i < done ? Way::sent : Way::unsent);
    }
}

void End::receive_batch(const Step& step) {
    const size_t most = 1 + step.size;
    const size_t capacity = std::min(size_of(step.capacity, session_.limit), largest_capacity);
    std::vector<uint32_t> lengths(most);
    std::vector<std::byte> exact(capacity);
    size_t count = SIZE_MAX;
    const int32_t timeout = timeout_of(step.timeout);
    unsigned allowed = may_receive() ? ok | timed_out | too_small : unsigned{wrong_state};
    if (may_receive() && incoming().surely_there(Kind::message, calls_) && !session_.arrives_late)
        allowed &= ~unsigned{timed_out};
    if (may_receive()) drop_kept();
    const ipc_status status =
        run("ipc_receive_batch", timeout, Half::receiving, allowed | order_of(Kind::message),
            [&] { return ipc_receive_batch(channel_, exact.data(), capacity, lengths.data(), most, &count, timeout); });
    if (status == IPC_BUFFER_TOO_SMALL) incoming().may_come(Kind::message, calls_, lengths[0]);
    if (status != IPC_OK && status != IPC_BUFFER_TOO_SMALL) return;
    kept_ = maybe_kept_ = false;
    if (status != IPC_OK) return;
    if (count == 0 || count > most) finding("ipc_receive_batch of at most %zu messages gave %zu", most, count);
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
        if (lengths[i] > capacity - at) finding("ipc_receive_batch gave more than there was room for");
        incoming().take(Kind::message, calls_, exact.data() + at, lengths[i]);
        at += lengths[i];
    }
}

} // namespace fuzz
