// Many calls in flight: the client's end, which is told of each exactly once, and the server's, which answers in any order.
#include "content.hpp"
#include "end.hpp"
#include "finding.hpp"

#include <algorithm>
#include <string>

namespace fuzz {
namespace {

// Not the call's number, which the library has, too.
uint64_t tag_of(uint32_t call) {
    return call * 0x9E3779B97F4A7C15u;
}

} // namespace

void End::submit(const Step& step) {
    // Now and then so many at once that the most there may be is reached.
    const size_t count = step.capacity < 192 ? 1 : step.capacity - size_t{150};
    size_t length = size_of(step.size, session_.limit);
    if (count > 1) length %= 100;
    length = length_of_request(length);
    for (size_t i = 0; i < count; ++i)
        if (submit_one(length, timeout_of(step.timeout)) != IPC_OK) return;
}

ipc_status End::submit_one(size_t length, int32_t timeout_ms) {
    unsigned allowed = ok | timed_out;
    if (in_flight_.size() >= IPC_MOST_IN_FLIGHT) allowed = too_many;
    if (length > session_.limit) allowed = too_large;
    if (room_ != Room::none) allowed = wrong_state;
    const bool goes_out = (allowed & ok) != 0;
    Frame out = frame(Kind::request, length);
    if (goes_out) out.request = ++calls_;
    outgoing().begin(out);
    // What comes meanwhile may be taken in.
    if (held_ == Held::nothing) drop_kept();
    submitting_ = goes_out;
    const ipc_status status = run("ipc_submit", timeout_ms, Half::sending, allowed | order_of(Kind::reply, true), [&] {
        return ipc_submit(channel_, content(side_, out.sequence), length, tag_of(out.request), timeout_ms);
    });
    submitting_ = false;
    sent(out, status);
    if (status == IPC_OK) in_flight_.insert(out.request);
    count_in_flight();
    return status;
}

void End::complete(size_t capacity, int32_t timeout_ms) {
    const bool may = held_ == Held::nothing;
    unsigned allowed = may ? unsigned{timed_out} : unsigned{wrong_state};
    // What was taken in is told of on a broken channel, too.
    if (may && !in_flight_.empty()) allowed |= ok | too_small | failed | nothing;
    if (may && incoming().surely_there(Kind::reply, awaited(0)) && !session_.arrives_late)
        allowed &= ~unsigned{timed_out};
    if (may) drop_kept();
    std::vector<std::byte> exact(capacity);
    uint64_t tag = 0;
    ipc_status told = IPC_SYSTEM;
    size_t length = SIZE_MAX;
    const ipc_status status =
        run("ipc_complete", timeout_ms, Half::receiving, allowed | order_of(Kind::reply, true), [&] {
            ipc_status outcome = IPC_SYSTEM;
            told = ipc_complete(channel_, &tag, &outcome, exact.data(), capacity, &length, timeout_ms);
            // What a call has ended with is judged as if the function had.
            return told == IPC_OK ? outcome : told;
        });
    if (told == IPC_OK || told == IPC_BUFFER_TOO_SMALL) {
        if (status == IPC_OK && length > capacity)
            finding("ipc_complete gave %zu bytes where there was room for %zu", length, capacity);
        completed(tag, status, exact.data(), length);
    } else if (may && !in_flight_.empty() && !may_be_tried_again(status)) {
        finding("%s: ipc_complete says '%s' while %zu calls have not been told of", name_.c_str(),
                ipc_status_text(status), in_flight_.size());
    }
    count_in_flight();
}

void End::completed(uint64_t tag, ipc_status outcome, const void* bytes, size_t length) {
    const auto call =
        std::find_if(in_flight_.begin(), in_flight_.end(), [&](uint32_t one) { return tag_of(one) == tag; });
    if (call == in_flight_.end())
        finding("%s: ipc_complete tells of a call that is not in flight: '%s'", name_.c_str(),
                ipc_status_text(outcome));
    if (outcome == IPC_BUFFER_TOO_SMALL) return incoming().may_come(Kind::reply, awaited(*call), length);
    if (outcome == IPC_OK) incoming().take(Kind::reply, awaited(*call), bytes, length);
    if (outcome == IPC_HANDLER_FAILED) incoming().take_fault(awaited(*call), ipc_last_error());
    if (outcome != IPC_OK && length != 0)
        finding("ipc_complete gives %zu bytes for a call that ended with '%s'", length, ipc_status_text(outcome));
    in_flight_.erase(call);
}

void End::defer_request() {
    const bool right = held_ == Held::request;
    uint64_t token = 0;
    const ipc_status status = run("ipc_defer_request", 0, Half::sending, right ? ok | nothing : unsigned{wrong_state},
                                  [&] { return ipc_defer_request(channel_, &token); });
    if (status == IPC_OK) {
        deferred_.push_back({token, held_frame_.request});
        newest_token_ = token;
    }
    if (right) held_ = Held::nothing;
}

void End::answer_deferred(const Step& step, bool fails) {
    const size_t length = fails ? 0 : size_of(step.size, session_.limit);
    const int32_t timeout = timeout_of(step.timeout);
    const bool known = !deferred_.empty() && step.capacity < 240;
    const size_t which = known ? step.capacity % deferred_.size() : 0;
    // One that was never given; past 32 bits there are none at all.
    const uint64_t token = known ? deferred_[which].token : (newest_token_ + step.capacity) << (step.capacity % 2 * 32);
    unsigned allowed = if_sending(ok | timed_out);
    if (room_ == Room::none && length > session_.limit) allowed = too_large;
    if (!known) allowed = deferred_.empty() ? wrong_state : invalid;
    Frame out = frame(fails ? Kind::fault : Kind::reply, length);
    const std::string text = fault_text(out.sequence);
    if (fails) out.length = text.size();
    out.request = known ? deferred_[which].request : 0;
    outgoing().begin(out);
    const ipc_status status =
        run(fails ? "ipc_fail_deferred" : "ipc_reply_deferred", timeout, Half::sending, allowed, [&] {
            return fails ? ipc_fail_deferred(channel_, token, text.c_str(), timeout)
                         : ipc_reply_deferred(channel_, token, content(side_, out.sequence), length, timeout);
        });
    sent(out, status);
    if (known && !may_be_tried_again(status)) deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(which));
}

} // namespace fuzz
