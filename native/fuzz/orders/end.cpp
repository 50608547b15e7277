#include "end.hpp"

#include "content.hpp"
#include "finding.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace fuzz {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

bool left_out(const char* operation) {
    static const char* const listed = std::getenv("IPC_FUZZ_WITHOUT");
    static const std::string list = std::string(",") + (listed == nullptr ? "" : listed) + ",";
    return list.find("," + std::string(operation) + ",") != std::string::npos;
}

bool left_out(Operation operation) {
    constexpr const char* names[] = {"send",
                                     "receive",
                                     "reserve",
                                     "commit",
                                     "cancel",
                                     "peek",
                                     "release",
                                     "send_batch",
                                     "receive_batch",
                                     "call",
                                     "call_peek",
                                     "receive_reply",
                                     "receive_request",
                                     "reply",
                                     "reserve_reply",
                                     "commit_reply",
                                     "fail_request",
                                     "serve",
                                     "close",
                                     "free",
                                     "close_elsewhere",
                                     "free_elsewhere",
                                     "submit",
                                     "complete",
                                     "defer_request",
                                     "reply_deferred",
                                     "fail_deferred",
                                     "interrupt_elsewhere"};
    static_assert(std::size(names) == static_cast<size_t>(Operation::count));
    return left_out(names[static_cast<size_t>(operation)]);
}

Operation operation_of(unsigned choice) {
    constexpr auto count = static_cast<unsigned>(Operation::count);
    constexpr auto first = static_cast<unsigned>(Operation::close_elsewhere);
    return static_cast<Operation>(choice < count ? choice : choice % first);
}

Flavour flavour_of(uint8_t ending) {
    return ending >= 192 ? Flavour::in_flight : static_cast<Flavour>(ending / 8 % 3);
}

Operation in_flavour(Operation operation, Flavour flavour, unsigned side) {
    using enum Operation;
    switch (flavour) {
    case Flavour::mixed:
        return operation;
    case Flavour::messages:
        switch (operation) {
        case call:
            return send;
        case call_peek:
            return reserve;
        case receive_reply:
            return commit;
        case receive_request:
            return receive;
        case reply:
            return send_batch;
        case reserve_reply:
            return peek;
        case commit_reply:
            return release;
        case fail_request:
            return receive_batch;
        case serve:
            return cancel;
        default:
            return operation;
        }
    case Flavour::calls:
        switch (operation) {
        case send:
            return side == 0 ? call : reply;
        case receive:
            return side == 0 ? call : receive_request;
        case reserve:
            return side == 0 ? call_peek : reserve_reply;
        case commit:
            return side == 0 ? call : commit_reply;
        case peek:
            return side == 0 ? call_peek : receive_request;
        case release:
            return side == 0 ? release : reply;
        case send_batch:
            return side == 0 ? receive_reply : serve;
        case receive_batch:
            return side == 0 ? receive_reply : receive_request;
        default:
            return operation;
        }
    case Flavour::in_flight:
        switch (operation) {
        case send:
        case reserve:
        case call:
        case send_batch:
            return side == 0 ? submit : reply_deferred;
        case receive:
        case peek:
        case call_peek:
        case receive_batch:
            return side == 0 ? complete : receive_request;
        case reply:
        case commit:
        case receive_reply:
            return side == 0 ? complete : defer_request;
        case receive_request:
            return side == 0 ? submit : receive_request;
        case fail_request:
        case commit_reply:
            return side == 0 ? submit : fail_deferred;
        default:
            return operation;
        }
    }
    return operation;
}

size_t size_of(uint8_t choice, size_t limit) {
    // Around what the transports treat differently: lines, slots, records, buffers, the smallest ring and several of them.
    constexpr size_t sizes[] = {0,      1,      8,      47,     48,      49,      100,     112,     113,     1000,
                                1024,   1025,   2032,   2033,   4096,    8192,    16'000,  32'767,  32'768,  32'769,
                                40'000, 65'535, 65'536, 65'537, 100'000, 131'072, 200'000, 262'144, 300'000, 400'000};
    constexpr size_t count = std::size(sizes);
    if (choice < 128) return sizes[choice % count];
    // The limit and just over it, now and then.
    if (choice >= 250) return std::min(limit + choice - 251, most_content);
    return (choice - 128) * size_t{choice};
}

bool cut_by_time_out(ipc_status status) {
    return status == IPC_TIMED_OUT && std::strstr(ipc_last_error(), "so the channel is broken") != nullptr;
}

int32_t timeout_of(uint8_t choice) {
    constexpr int32_t times[] = {0, 0, 0, 0, 0, 1, 2, 8};
    if (choice >= 240) return IPC_FOREVER;
    return times[choice % std::size(times)];
}

End::End(Session& session, unsigned side, ipc_channel* channel)
    : session_(session), side_(side), channel_(channel), name_(side == 0 ? "client" : "server") {}

End::~End() = default;

// ---- one call

ipc_status End::run(const char* function, int32_t timeout_ms, Half half, unsigned allowed, const Function& body) {
    const auto start = Clock::now();
    const unsigned interruptions = interruptions_;
    const bool interrupted = interrupted_;
    if (half == Half::receiving) receiving_ = ++calls_made_;
    watched_.enter(function, timeout_ms, &session_.closing[side_]);
    const ipc_status status = body();
    watched_.leave();
    receiving_ = 0;
    const bool called_back = half != Half::sending && (interrupted || interruptions_ != interruptions);
    const double took_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    trace("%s %s timeout %d -> %s%s%s (%.1f ms)", name_.c_str(), function, timeout_ms, ipc_status_text(status),
          status == IPC_OK ? "" : ": ", status == IPC_OK ? "" : ipc_last_error(), took_ms);
    if (status == IPC_CLOSED) {
        const std::lock_guard lock(mutex_);
        first_close_seen_ = true;
    }
    judge(function, status, half, allowed, timeout_ms, took_ms, called_back);
    return status;
}

bool comes_true(const std::function<bool()>& condition) {
    for (int waited_ms = 0; !condition(); ++waited_ms) {
        if (waited_ms == 1000) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

// Whether a call may have returned this, given what it may answer and what has become of the connection.
void End::judge(const char* function, ipc_status status, Half half, unsigned allowed, int32_t timeout_ms,
                double took_ms, bool called_back) {
    const auto refuse = [&](const char* why) {
        finding("%s %s returned '%s' (%s): %s", name_.c_str(), function, ipc_status_text(status), ipc_last_error(),
                why);
    };
    const bool closing = session_.closing[side_];
    const bool hostile = incoming().anything();
    const auto is = [&](unsigned outcome) { return (allowed & outcome) != 0 || hostile; };
    switch (status) {
    case IPC_OK:
        if (!is(ok)) refuse("that cannot have succeeded");
        // What had come before a send of this end was cut may still be given out.
        if ((allowed & nothing) == 0 && failure_of(half == Half::receiving ? half : Half::sending) != IPC_OK &&
            !(half == Half::receiving && cut_here_))
            refuse("the channel had failed before");
        return;
    case IPC_TIMED_OUT:
        if (cut_by_time_out(status)) {
            if (timeout_ms < 0 && half == Half::sending && !cut_here_) refuse("there was no time-out");
            session_.cut = true;
            cut_here_ = true;
            break;
        }
        if (failure_of(half == Half::receiving ? half : Half::sending) != IPC_OK)
            refuse("the channel had failed before");
        if (!is(timed_out) || (timeout_ms < 0 && !called_back)) refuse("there was nothing to wait for");
        if (took_ms < timeout_ms - 1 && !called_back) refuse("the time-out had not passed");
        return;
    case IPC_BUFFER_TOO_SMALL:
        if (!is(too_small)) refuse("there was room");
        return;
    case IPC_WRONG_STATE:
        if (!is(wrong_state)) refuse("the state was right");
        return;
    case IPC_MESSAGE_TOO_LARGE:
        if (!is(too_large)) refuse("the message was within the limit");
        return;
    case IPC_INVALID_ARGUMENT:
        if (!is(invalid)) refuse("the arguments were right");
        return;
    case IPC_TOO_MANY_CALLS:
        if (!is(too_many)) refuse("there are not so many");
        return;
    case IPC_HANDLER_FAILED:
        if (!is(failed)) refuse("no handler failed");
        return;
    case IPC_CLOSED:
        if (!closing) refuse("nobody closed it here");
        return;
    case IPC_PEER_CLOSED:
    case IPC_TRUNCATED:
        if (!hostile && !closing && !comes_true([&] { return session_.closing[side_ ^ 1] || session_.cut; }))
            refuse("the peer is there");
        break;
    case IPC_NOT_OUR_PROTOCOL:
        // In memory scribbled over any function may be the first to see it, a send in what the peer says it has read.
        if (!hostile && failure_[0] != status && failure_[1] != status &&
            ((allowed & order) == 0 ||
             !comes_true([&] { return incoming().may_break_order(expected_, expected_answer()); })))
            refuse("the peer broke no rule");
        session_.cut = true;
        break;
    case IPC_PEER_TOO_LARGE:
        if (!hostile) refuse("no peer sends that much");
        break;
    default:
        refuse("that is never to be expected");
    }
    remember_failure(half, status);
}

// A broken channel repeats its first failure; the peer's end leaves to receiving what came before.
void End::remember_failure(Half half, ipc_status status) {
    if (status == IPC_PEER_CLOSED && half != Half::receiving && sending_may_have_ended_) {
        if (half == Half::sending) failure_[static_cast<size_t>(half)] = status;
        return;
    }
    if (half == Half::both) {
        const bool either = status == failure_[0] || status == failure_[1];
        if (failure_[0] != IPC_OK && failure_[1] != IPC_OK && !either) differs(failure_[0], status);
        if (status == IPC_PEER_CLOSED) { // whichever half has seen it
            sending_may_have_ended_ = true;
            return;
        }
    } else if (failure_of(half) != IPC_OK && failure_of(half) != status) {
        differs(failure_of(half), status);
    }
    for (const Half one : {Half::sending, Half::receiving})
        if ((one == half || status != IPC_PEER_CLOSED) && failure_of(one) == IPC_OK)
            failure_[static_cast<size_t>(one)] = status;
}

void End::differs(ipc_status before, ipc_status now) const {
    finding("%s: after '%s' a later call says '%s'", name_.c_str(), ipc_status_text(before), ipc_status_text(now));
}

void End::perform(const Step& step) {
    if (left_out(step.operation)) return;
    {
        const std::lock_guard lock(mutex_);
        if (freed_) return;
    }
    check_held();
    const size_t length = size_of(step.size, session_.limit);
    const size_t capacity = std::min(size_of(step.capacity, session_.limit), largest_capacity);
    const int32_t timeout = timeout_of(step.timeout);
    switch (step.operation) {
    case Operation::send:
        return send(length, timeout);
    case Operation::receive:
        return receive(capacity, timeout);
    case Operation::reserve:
        return reserve(length, timeout, false);
    case Operation::commit:
        return commit(step.capacity < 128 ? room_length_ : length, timeout, false);
    case Operation::cancel:
        return cancel();
    case Operation::peek:
        return peek(timeout);
    case Operation::release:
        return release();
    case Operation::send_batch:
        return send_batch(step);
    case Operation::receive_batch:
        return receive_batch(step);
    case Operation::call:
        return call(length, capacity, timeout, false);
    case Operation::call_peek:
        return call(length, capacity, timeout, true);
    case Operation::receive_reply:
        return receive_reply(capacity, timeout);
    case Operation::receive_request:
        return receive_request(timeout);
    case Operation::reply:
        return reply(length, timeout);
    case Operation::reserve_reply:
        return reserve(length, timeout, true);
    case Operation::commit_reply:
        return commit(step.capacity < 128 ? room_length_ : length, timeout, true);
    case Operation::fail_request:
        return fail_request(timeout);
    case Operation::serve:
        return serve(step.size);
    case Operation::submit:
        return submit(step);
    case Operation::complete:
        return complete(capacity, timeout);
    case Operation::defer_request:
        return defer_request();
    case Operation::reply_deferred:
        return answer_deferred(step, false);
    case Operation::fail_deferred:
        return answer_deferred(step, true);
    case Operation::close:
        return close();
    case Operation::free:
        return free();
    case Operation::close_elsewhere:
    case Operation::free_elsewhere:
    case Operation::interrupt_elsewhere:
    case Operation::count:
        return;
    }
}

} // namespace fuzz
