#include "calls/call_session.hpp"

#include "core/wait_for_change.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <string_view>

namespace ipc {

// ---- the transport's threads

Status CallSession::answer(FrameKind kind, uint32_t id, const void* bytes, size_t length, ReplySink& sink) {
    Lock lock(mutex_);
    if (closed_ || failure_ != IPC_OK) return ended();
    if ((kind != FrameKind::message && kind != FrameKind::request) || length > limit_) return refuse(kind, length);
    Exchange exchange{kind, id, bytes, length, &sink};
    exchanges_.push_back(&exchange);
    changed_.notify_all();
    Status status = IPC_OK;
    while (!exchange.done) {
        const bool first = exchanges_.front() == &exchange;
        if (first && answer_one_ != nullptr && stopped_ == IPC_OK && !running_ && !closed_) {
            status = run_here(exchange, lock);
            break;
        }
        if (closed_ && !exchange.being_read) break;
        wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
    }
    if (exchange.done && exchange.has_reply) {
        // The first exchange stays first until its reply is out of reply_: next() tells of no other meanwhile.
        lock.unlock();
        sink.put(exchange.reply_kind, id, exchange.reply, exchange.reply_length);
        lock.lock();
    }
    if (status == IPC_OK && !exchange.done) status = ended();
    leave(exchange);
    return status;
}

// What no client of ours sends; the thread that serves learns of it from next().
Status CallSession::refuse(FrameKind kind, size_t length) {
    if (kind != FrameKind::message && kind != FrameKind::request)
        failure_ =
            fail(IPC_NOT_OUR_PROTOCOL, "a client of %s sent what is neither a request nor a message", address_.c_str());
    else
        failure_ = fail(IPC_PEER_TOO_LARGE,
                        "a client of %s sent %zu bytes, over this side's limit of %zu: raise it with option max=",
                        address_.c_str(), length, limit_);
    failure_text_ = last_error();
    changed_.notify_all();
    return failure_;
}

// Lets answer_one answer the exchange on this thread, which is the transport's.
Status CallSession::run_here(Exchange& exchange, Lock& lock) {
    const std::function<Status()>& answer_one = *answer_one_;
    running_ = true;
    lock.unlock();
    Status status;
    try {
        status = answer_one();
    } catch (const std::exception& e) {
        status = fail(IPC_SYSTEM, "unexpected: %s", e.what());
    } catch (...) {
        status = fail(IPC_SYSTEM, "unexpected exception");
    }
    const std::string text = status != IPC_OK ? last_error() : "";
    lock.lock();
    running_ = false;
    if (status != IPC_OK) {
        stopped_ = status;
        stopped_text_ = text;
    }
    changed_.notify_all();
    // Failing before the answer, it may not have looked at the exchange at all: the thread that serves has ended then.
    return exchange.done ? IPC_OK : fail(IPC_PEER_CLOSED, "the server's channel at %s has failed", address_.c_str());
}

void CallSession::leave(Exchange& exchange) {
    exchanges_.erase(std::ranges::find(exchanges_, &exchange));
    if (told_ == &exchange) told_ = nullptr;
    changed_.notify_all();
}

void CallSession::client_gone() {
    const Lock lock(mutex_);
    gone_ = true;
    changed_.notify_all();
}

void CallSession::close() {
    std::function<void()> tell;
    {
        const Lock lock(mutex_);
        closed_ = true;
        changed_.notify_all();
        tell.swap(when_closed_);
    }
    if (tell) tell();
}

// ---- the thread that serves

// Why the transport's thread gets no answer.
Status CallSession::ended() const {
    if (closed_) return fail(IPC_PEER_CLOSED, "the server's channel at %s was closed", address_.c_str());
    return fail(failure_, "%s", failure_text_.c_str());
}

Status CallSession::closed_here() const {
    return fail(IPC_CLOSED, "the channel of %s was closed here", address_.c_str());
}

Status CallSession::client_has_gone() const {
    return fail(IPC_PEER_CLOSED, "the client of %s closed the connection or died", address_.c_str());
}

// The exchange next() told of has left, or there never was one.
Status CallSession::nothing_told() const {
    if (closed_) return closed_here();
    if (gone_) return client_has_gone();
    return fail(IPC_WRONG_STATE,
                "a server cannot send of its own accord over this transport, which has calls only: let the "
                "client call, or use a transport of kind \"channel\"");
}

Status CallSession::next(FrameInfo* info, const Deadline& deadline) {
    Lock lock(mutex_);
    while (true) {
        // A handler that runs while the channel is closed still answers its request.
        if (closed_ && !running_) return closed_here();
        if (!exchanges_.empty() && !exchanges_.front()->done) {
            told_ = exchanges_.front();
            *info = {told_->kind, told_->id, told_->length};
            return IPC_OK;
        }
        if (failure_ != IPC_OK) return ended();
        if (gone_ && exchanges_.empty()) return client_has_gone();
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "nothing came from the client of %s within the time-out", address_.c_str());
        wait_for_change(changed_, lock, deadline);
    }
}

Status CallSession::view(const void** data) {
    Lock lock(mutex_);
    if (told_ == nullptr) return nothing_told();
    Exchange& exchange = *told_;
    if (exchange.length == 0 || running_) {
        *data = exchange.length == 0 ? "" : exchange.bytes;
        return IPC_OK;
    }
    if (!exchange.viewed) {
        if (!request_.grow(exchange.length))
            return fail(IPC_OUT_OF_MEMORY, "out of memory for a message of %zu bytes from the client of %s",
                        exchange.length, address_.c_str());
        exchange.viewed = true;
        read(exchange, request_.data(), lock);
    }
    *data = request_.data();
    return IPC_OK;
}

Status CallSession::take(void* buffer) {
    {
        Lock lock(mutex_);
        if (told_ == nullptr) return nothing_told();
        if (told_->length != 0) read(*told_, buffer, lock);
    }
    return release();
}

// Copies without holding the lock, so that nobody waits for a long message.
void CallSession::read(Exchange& exchange, void* to, Lock& lock) {
    exchange.being_read = true;
    lock.unlock();
    std::memcpy(to, exchange.bytes, exchange.length);
    lock.lock();
    exchange.being_read = false;
    changed_.notify_all();
}

Status CallSession::release() {
    const Lock lock(mutex_);
    if (told_ == nullptr) return IPC_OK; // a request is done with its reply
    if (told_->kind == FrameKind::request) {
        static constexpr std::string_view text = "the server could not send its reply";
        told_->has_reply = true;
        told_->reply_kind = FrameKind::fault;
        told_->reply = text.data();
        told_->reply_length = text.size();
    }
    finish();
    return IPC_OK;
}

void CallSession::finish() {
    told_->done = true;
    told_ = nullptr;
    changed_.notify_all();
}

Status CallSession::reserve(size_t length, void** data) {
    const Lock lock(mutex_);
    return told_ == nullptr ? nothing_told() : room(length, data);
}

Status CallSession::room(size_t length, void** data) {
    if (!reply_.grow(length != 0 ? length : 1))
        return fail(IPC_OUT_OF_MEMORY, "out of memory for a reply of %zu bytes to the client of %s", length,
                    address_.c_str());
    *data = reply_.data();
    return IPC_OK;
}

// `data` null: what was written into the room that reserve() gave.
Status CallSession::reply(FrameKind kind, uint32_t id, const void* data, size_t length) {
    Lock lock(mutex_);
    if (told_ == nullptr || told_->kind != FrameKind::request || told_->id != id) return nothing_told();
    if (running_) {
        lock.unlock();
        told_->sink->put(kind, id, data != nullptr ? data : reply_.data(), length);
        lock.lock();
    } else {
        if (data != nullptr && length != 0) {
            void* copy = nullptr;
            if (Status s = room(length, &copy)) return s;
            std::memcpy(copy, data, length);
        }
        told_->has_reply = true;
        told_->reply_kind = kind;
        told_->reply = reply_.data();
        told_->reply_length = length;
    }
    finish();
    return IPC_OK;
}

Status CallSession::serve(const std::function<Status()>& answer_one) {
    Lock lock(mutex_);
    stopped_ = IPC_OK;
    answer_one_ = &answer_one;
    changed_.notify_all();
    // Until answer_one is out of its last run, for it is the caller's.
    while (running_ || !(closed_ || stopped_ != IPC_OK || ((gone_ || failure_ != IPC_OK) && exchanges_.empty())))
        wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
    answer_one_ = nullptr;
    if (closed_) return closed_here();
    if (stopped_ != IPC_OK) return fail(stopped_, "%s", stopped_text_.c_str());
    if (failure_ != IPC_OK) return ended();
    return client_has_gone();
}

// ---- the channel

namespace {

class CallServerChannel final : public FrameChannel {
  public:
    explicit CallServerChannel(std::shared_ptr<CallSession> session)
        : FrameChannel(session->limit()), session_(std::move(session)) {}
    ~CallServerChannel() override { session_->close(); }

    // A plain message finds no request to answer and is refused; requests cannot be made here at all.
    Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline&) override {
        if (Status s = sending_failure_.any() ? sending_failure() : IPC_OK) return s;
        return session_->reply(kind, id, length != 0 ? data : "", length);
    }
    bool has_calls_in_flight() const override { return false; }
    Status reserve(size_t length, void** data, const Deadline&) override { return session_->reserve(length, data); }
    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline&) override {
        return session_->reply(kind, id, nullptr, length);
    }
    Status next(FrameInfo* info, const Deadline& deadline) override {
        if (Status s = receiving_failure_.any() ? receiving_failure() : IPC_OK) return s;
        return session_->next(info, deadline);
    }
    Status take(void* buffer, const Deadline&) override { return session_->take(buffer); }
    Status view(const void** data, const Deadline&) override { return session_->view(data); }
    Status release() override { return session_->release(); }
    void close() override {
        closed_ = true;
        session_->close();
    }
    Status ended_here() const override { return closed_ ? session_->closed_here() : IPC_OK; }

    bool serves_elsewhere() const override { return true; }
    Status serve_elsewhere(const std::function<Status()>& answer_one) override {
        const Status status = session_->serve(answer_one);
        return receiving_failure_.any() ? receiving_failure() : status;
    }

  private:
    void hang_up() override { session_->close(); }

    const std::shared_ptr<CallSession> session_;
    std::atomic<bool> closed_{false}; // by close(); the session is closed also when the channel breaks
};

} // namespace

std::unique_ptr<FrameChannel> make_call_server_channel(std::shared_ptr<CallSession> session) {
    return std::make_unique<CallServerChannel>(std::move(session));
}

} // namespace ipc
