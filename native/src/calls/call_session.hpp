#pragma once

#include "core/frame_channel.hpp"
#include "core/growing_buffer.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace ipc {

// Where a transport wants the answer to one exchange. Called on the thread that called CallSession::answer(), before that
// returns, for a request and not for a message; the bytes are good during the call only.
class ReplySink {
  public:
    virtual ~ReplySink() = default;
    virtual void put(FrameKind kind, uint32_t id, const void* bytes, size_t length) = 0;
};

// One client of a transport that has calls only, at the server: where the threads on which the transport delivers exchanges
// meet the thread that serves the channel. Shared by both; each side may end first.
//
// Exchanges are answered one at a time, in the order in which they came. While a thread is in serve(), they are answered on
// the threads that deliver them, which spares two switches of threads for each; else they wait for next().
class CallSession {
  public:
    // `address` is for error messages.
    CallSession(size_t limit, std::string address) : limit_(limit), address_(std::move(address)) {}

    // ---- for the transport's threads

    // Delivers an exchange and waits until it is answered. `bytes` must stay until this returns, and then may go.
    //   IPC_OK                the request's answer went to `sink`, or the message was taken
    //   IPC_PEER_CLOSED       the server's channel has ended: the client must be told so
    //   IPC_PEER_TOO_LARGE    over the limit, which ends the session; likewise IPC_NOT_OUR_PROTOCOL for a wrong kind
    Status answer(FrameKind kind, uint32_t id, const void* bytes, size_t length, ReplySink& sink);
    // The client has closed or died: what it sent before is still received, then IPC_PEER_CLOSED.
    void client_gone();

    // Called once, by close() on its thread: a transport that keeps something for the session lets it go. Before it is admitted.
    void when_closed(std::function<void()> tell) { when_closed_ = std::move(tell); }

    // ---- for the listener: ends a session that nobody accepted, or whose channel goes
    void close();

    // ---- for the thread that serves, through CallServerChannel
    size_t limit() const { return limit_; }
    Status closed_here() const;
    Status next(FrameInfo* info, const Deadline& deadline);
    Status view(const void** data);
    Status take(void* buffer);
    Status release();
    Status reserve(size_t length, void** data);
    Status reply(FrameKind kind, uint32_t id, const void* data, size_t length);
    Status serve(const std::function<Status()>& answer_one);

  private:
    // Lives in the frame of answer().
    struct Exchange {
        FrameKind kind;
        uint32_t id;
        const void* bytes;
        size_t length;
        ReplySink* sink;
        bool being_read = false; // bytes must stay although the session has ended
        bool viewed = false;     // bytes are in request_
        bool done = false;       // answered or taken
        bool has_reply = false;  // still to be given to the sink
        FrameKind reply_kind = FrameKind::reply;
        const void* reply = nullptr;
        size_t reply_length = 0;
    };
    using Lock = std::unique_lock<std::mutex>;

    Status refuse(FrameKind kind, size_t length);
    Status run_here(Exchange& exchange, Lock& lock);
    void leave(Exchange& exchange);
    void read(Exchange& exchange, void* to, Lock& lock);
    void finish();
    Status room(size_t length, void** data);
    Status ended() const;
    Status client_has_gone() const;
    Status nothing_told() const;

    const size_t limit_;
    const std::string address_;
    std::function<void()> when_closed_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Exchange*> exchanges_; // the first is the one being answered
    Exchange* told_ = nullptr;        // the first, once next() has told of it and until it is answered or taken
    bool closed_ = false;             // here, by close()
    bool gone_ = false;               // the client
    Status failure_ = IPC_OK;         // what the client sent ended the session
    std::string failure_text_;

    const std::function<Status()>* answer_one_ = nullptr; // a thread is in serve()
    bool running_ = false;                                // answer_one is, on the first exchange's thread
    Status stopped_ = IPC_OK;                             // answer_one has failed
    std::string stopped_text_;

    GrowingBuffer request_; // a copy: a closed session lets its transport's thread go at once
    GrowingBuffer reply_;
};

// The channel of a session, which it closes when it goes.
std::unique_ptr<FrameChannel> make_call_server_channel(std::shared_ptr<CallSession> session);

} // namespace ipc
