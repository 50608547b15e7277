#include "msrpc/connection_win32.hpp"

#include "core/detached_thread.hpp"
#include "win32/error_text.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <functional>

namespace ipc::msrpc {
namespace {

constexpr FrameKind open_session_job = FrameKind{};

// Wine makes two associations of one when two first connections are made at once, and a session belongs to one of them.
std::mutex& opening_one(const std::wstring& endpoint) {
    static std::array<std::mutex, 64> locks;
    return locks[std::hash<std::wstring>{}(endpoint) % locks.size()];
}

RPC_STATUS bind(const Handshake& handshake, RPC_BINDING_HANDLE* binding) {
    std::wstring sequence = protocol_sequence(handshake.sequence);
    std::wstring network = handshake.sequence == Sequence::tcp ? L"127.0.0.1" : L"";
    std::wstring endpoint = handshake.endpoint;
    const auto text = [](std::wstring& s) { return reinterpret_cast<RPC_WSTR>(s.data()); };
    RPC_WSTR composed = nullptr;
    RPC_STATUS status = RpcStringBindingComposeW(nullptr, text(sequence), network.empty() ? nullptr : text(network),
                                                 text(endpoint), nullptr, &composed);
    if (status != RPC_S_OK) return status;
    status = RpcBindingFromStringBindingW(composed, binding);
    RpcStringFreeW(&composed);
    return status;
}

} // namespace

Connection::~Connection() {
    last_request_.reset();
    if (binding_ != nullptr) RpcBindingFree(&binding_);
}

Status Connection::timed_out(const char* what) const {
    return fail(IPC_TIMED_OUT, "%s %s within the time-out", address_.c_str(), what);
}

// ---- whoever uses the channel

Status Connection::open(const Deadline& deadline) {
    start_detached([self = shared_from_this()] { self->run(); });
    return ask({open_session_job, 0, nullptr, 0}, deadline);
}

Status Connection::exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                            CallReply* reply) {
    if (Status s = ask({kind, id, bytes, length}, deadline)) return s;
    // The thread does not touch it before it is asked again.
    if (reply != nullptr) *reply = reply_;
    return IPC_OK;
}

// False when the deadline passed first.
bool Connection::wait_until_not(Phase phase, Lock& lock, const Deadline& deadline) {
    const auto over = [&] { return phase_ != phase || closed_; };
    if (deadline.forever()) {
        changed_.wait(lock, over);
        return true;
    }
    return changed_.wait_for(lock, std::chrono::nanoseconds(deadline.left_ns()), over);
}

Status Connection::ask(const Job& job, const Deadline& deadline) {
    const Deadline forever(IPC_FOREVER);
    Lock lock(mutex_);
    while (phase_ != Phase::idle && !closed_)
        if (!wait_until_not(phase_, lock, deadline))
            return timed_out("has not answered an earlier call, and nothing more was sent to it");
    if (closed_) return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
    job_ = job;
    job_.number = ++last_number_;
    phase_ = Phase::asked;
    changed_.notify_all();
    while (phase_ != Phase::done) {
        // While the thread reads the bytes, they must stay.
        const bool in_time = wait_until_not(phase_, lock, phase_ == Phase::copying ? forever : deadline);
        if (phase_ == Phase::copying) {
            changed_.wait(lock, [&] { return phase_ != Phase::copying; });
            continue;
        }
        if (phase_ == Phase::done || (in_time && !closed_)) continue;
        if (phase_ == Phase::asked)
            phase_ = Phase::idle;
        else
            abandoned_ = true;
        if (closed_) return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
        return timed_out("did not answer");
    }
    phase_ = Phase::idle;
    return status_ == IPC_OK ? IPC_OK : fail(status_, "%s", error_message_.c_str());
}

void Connection::close() {
    const Lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

// ---- the thread

void Connection::run() {
    Lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return phase_ == Phase::asked || closed_; });
        if (closed_) break;
        const Job job = job_;
        lock.unlock();
        const bool started = answer(job);
        lock.lock();
        if (!started) continue;
        phase_ = abandoned_ ? Phase::idle : Phase::done;
        abandoned_ = false;
        changed_.notify_all();
    }
    lock.unlock();
    last_request_.reset();
    if (session_open_) call_close(binding_, context_);
}

// Whether whoever asked still waits for the job; its bytes then stay until enter(calling).
bool Connection::start(const Job& job) {
    const Lock lock(mutex_);
    if (closed_ || phase_ != Phase::asked || job_.number != job.number) return false;
    phase_ = Phase::copying;
    set(IPC_OK, {});
    return true;
}

void Connection::enter(Phase phase) {
    const Lock lock(mutex_);
    phase_ = phase;
    changed_.notify_all();
}

void Connection::set(Status status, std::string error_message) {
    status_ = status;
    error_message_ = std::move(error_message);
}

void Connection::set_rpc_failure(RPC_STATUS status) {
    const Status meaning = status_of(status);
    const char* what = meaning == IPC_PEER_CLOSED        ? "has closed or died: connect again"
                       : meaning == IPC_NOT_OUR_PROTOCOL ? "answered what is not ours"
                                                         : "could not be called";
    set(meaning, address_ + " " + what + ": " + win32::error_text(static_cast<DWORD>(status)));
}

bool Connection::answer(const Job& job) {
    if (job.kind == open_session_job) {
        if (!start(job)) return false;
        enter(Phase::calling); // there are no bytes to copy
        try {
            open_session();
        } catch (const std::exception&) {
            set(IPC_OUT_OF_MEMORY, "no memory");
        }
        return true;
    }
    // Memory for the call may need a new connection, and that may take its time: whoever asked can still leave.
    if (reply_dropped_.exchange(false)) last_request_.reset();
    std::optional<Call> message;
    std::optional<Call>& call = job.kind == FrameKind::request ? last_request_ : message;
    call.emplace(binding_, procedure_exchange);
    const RPC_STATUS status = call->begin(exchange_head + job.length);
    if (!start(job)) {
        call.reset();
        return false;
    }
    if (status == RPC_S_OK) {
        write_exchange_head(call->request(), token_, static_cast<uint32_t>(job.kind), job.id,
                            static_cast<uint32_t>(job.length));
        if (job.length != 0) std::memcpy(call->request() + exchange_head, job.bytes, job.length);
    }
    enter(Phase::calling);
    try {
        if (status == RPC_S_OK)
            exchange_frame(job, *call);
        else
            set_rpc_failure(status);
    } catch (const std::exception&) {
        set(IPC_OUT_OF_MEMORY, "no memory");
    }
    return true;
}

void Connection::open_session() {
    RPC_STATUS status = bind(handshake_, &binding_);
    Opened opened{};
    if (status == RPC_S_OK) {
        const std::lock_guard one_at_a_time(opening_one(handshake_.endpoint));
        // A connection kept from a server that has died since is found broken by its first call.
        for (int tries = 0; tries < 4; ++tries) {
            status = call_open(binding_, handshake_.proof, &opened);
            if (status != RPC_S_CALL_FAILED && status != RPC_S_CALL_FAILED_DNE) break;
        }
    }
    if (status_of(status) == IPC_PEER_CLOSED)
        return set(IPC_NO_SERVER, "nobody listens at " + address_ +
                                      ": start the server first: " + win32::error_text(static_cast<DWORD>(status)));
    if (status != RPC_S_OK) return set_rpc_failure(status);
    if (opened.status == IPC_NO_SERVER)
        return set(IPC_NO_SERVER, "nobody listens at " + address_ + " any more: start the server first");
    if (opened.status == IPC_NOT_AVAILABLE)
        return set(IPC_PEER_CLOSED,
                   "the server at " + address_ + " has too many clients that it has not accepted yet: try again");
    if (opened.status != IPC_OK || opened.answer != handshake_.answer)
        return set(IPC_NO_PERMISSION,
                   "the server at " + address_ + " refused this client, or is not the one that listens there");
    token_ = opened.token;
    context_ = opened.context;
    session_open_ = true;
}

void Connection::exchange_frame(const Job& job, Call& call) {
    Exchanged exchanged{};
    RPC_STATUS status = call.send();
    if (status == RPC_S_OK) status = read_exchanged(call, &exchanged);
    if (status != RPC_S_OK) return set_rpc_failure(status);
    switch (exchanged.status) {
    case IPC_OK:
        reply_ = {static_cast<FrameKind>(exchanged.kind), job.id, exchanged.bytes, exchanged.length};
        return;
    case IPC_PEER_TOO_LARGE:
        return set(IPC_PEER_CLOSED, "the server at " + address_ + " ended the channel because a message of " +
                                        std::to_string(job.length) + " bytes is over its limit: raise its max=");
    case IPC_OUT_OF_MEMORY:
        return set(IPC_OUT_OF_MEMORY, "the server at " + address_ + " had no memory for the call");
    default:
        return set(IPC_PEER_CLOSED, "the server at " + address_ + " has closed the channel: connect again");
    }
}

} // namespace ipc::msrpc
