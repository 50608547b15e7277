#pragma once

#include "ipc/ipc.h"
#include "session.hpp"
#include "watchdog.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fuzz {

enum class Operation : uint8_t {
    send,
    receive,
    reserve,
    commit,
    cancel,
    peek,
    release,
    send_batch,
    receive_batch,
    call,
    call_peek,
    receive_reply,
    receive_request,
    reply,
    reserve_reply,
    commit_reply,
    fail_request,
    serve,
    close,
    free,
    // By a thread that does nothing else; where there is none, left out.
    close_elsewhere,
    free_elsewhere,
    submit,
    complete,
    defer_request,
    reply_deferred,
    fail_deferred,
    // By the thread that closes and frees elsewhere.
    interrupt_elsewhere,
    count
};

// The operation that a byte of an input, or a part of one, stands for. The numbers of those that came first stay what they are, for the seeds.
Operation operation_of(unsigned choice);

// Whether IPC_FUZZ_WITHOUT in the environment lists the operation, as "free,close": to look for other faults while one is known.
bool left_out(const char* operation);
bool left_out(Operation operation);

// What a connection is for: a step of one kind then stands for one of the other, so that most steps go deep.
enum class Flavour : uint8_t { mixed, messages, calls, in_flight };
// By the byte that says how a run ends.
Flavour flavour_of(uint8_t ending);
Operation in_flavour(Operation operation, Flavour flavour, unsigned side);

struct Step {
    Operation operation;
    uint8_t size;     // of what is sent
    uint8_t capacity; // of what is received, or how many
    uint8_t timeout;
};

// What is received has at most so many bytes.
inline constexpr size_t largest_capacity = 600 * 1024;

// Whether the latest failure of this thread was a time-out that passed half-way through a message: now, or once, repeated.
bool cut_by_time_out(ipc_status status);

size_t size_of(uint8_t choice, size_t limit);
int32_t timeout_of(uint8_t choice);

// Whether the condition becomes true within a second: what another thread does shows before the model knows of it.
bool comes_true(const std::function<bool()>& condition);

// One end of a connection: does steps through the C ABI, knows what each of them may answer, and checks it. One thread does
// all the steps; close_from_elsewhere, free_from_elsewhere and interrupt_from_elsewhere are for another one.
class End {
  public:
    End(Session& session, unsigned side, ipc_channel* channel);
    ~End();

    void perform(const Step& step);
    // Takes everything that was sent for certain: nothing may be missing.
    void drain();
    // Polls, not waiting, after the peer was killed: that must show within two seconds.
    void poll_until_end();
    // How many requests this end has sent, or tried to.
    uint32_t calls() const { return calls_; }
    // How many of them may be in flight.
    size_t in_flight() const { return in_flight_count_; }

    void close_from_elsewhere();
    // Frees the channel if that is allowed: the other thread sleeps inside a call, or `idle`: it does no steps any more.
    bool free_from_elsewhere(bool idle);
    // Calls the end's receiver back, ends that, or both at once; whoever receives must come back.
    void interrupt_from_elsewhere(uint8_t choice);
    void end_interruption() { interrupt_from_elsewhere(1); }
    bool freed();
    // Its thread is in a call that only the peer or closing can end.
    bool waits_without_end() const { return watched_.waits_without_end(); }

  private:
    enum class Held { nothing, message, reply, request };
    enum class Room { none, plain, reply };
    // Statuses a call may return, beside those of an end.
    enum : unsigned {
        ok = 1,
        timed_out = 2,
        too_small = 4,
        wrong_state = 8,
        too_large = 16,
        invalid = 32,
        failed = 64,
        nothing = 256, // it may have had nothing to do
        too_many = 512,
        order = 128 // what comes may not be of the kind that is expected_
    };
    enum class Half { sending, receiving, both };
    using Function = std::function<ipc_status()>;

    ipc_status run(const char* function, int32_t timeout_ms, Half half, unsigned allowed, const Function& body);
    void judge(const char* function, ipc_status status, Half half, unsigned allowed, int32_t timeout_ms, double took_ms,
               bool called_back);
    void set_interrupted(bool on);
    [[noreturn]] void differs(ipc_status before, ipc_status now) const;
    void remember_failure(Half half, ipc_status status);
    ipc_status failure_of(Half half) const { return failure_[static_cast<size_t>(half)]; }

    Wire& outgoing() { return session_.wire[side_]; }
    Wire& incoming() { return session_.wire[side_ ^ 1]; }
    bool may_receive() const { return held_ == Held::nothing && in_flight_.empty(); }
    unsigned if_sending(unsigned otherwise) const { return room_ == Room::none ? otherwise : unsigned{wrong_state}; }
    static Way way_of(ipc_status status);
    Frame frame(Kind kind, size_t length);
    // A request's length: two empty ones, of which the first may never have gone, could not be told apart.
    size_t length_of_request(size_t length) const;
    void check_held();
    void sent(const Frame& frame, ipc_status status);
    void drop_kept();
    void request_done(ipc_status status);
    // Whether what failed so stays as it was: a room, a request.
    static bool may_be_tried_again(ipc_status status);
    unsigned order_of(Kind kind, bool of_many = false) {
        expected_ = kind;
        expects_of_many_ = of_many;
        return order;
    }
    // What the receiving function under way, or the one that submits, expects: not yet the answer to what is being submitted.
    Awaited expected_answer() const {
        return expects_of_many_ ? Awaited(calls_, &in_flight_, submitting_ ? calls_ - 1 : uint32_t{calls_})
                                : Awaited(calls_);
    }

    void send(size_t length, int32_t timeout_ms);
    void receive(size_t capacity, int32_t timeout_ms);
    void reserve(size_t length, int32_t timeout_ms, bool reply);
    void commit(size_t length, int32_t timeout_ms, bool reply);
    void cancel();
    void peek(int32_t timeout_ms);
    void release();
    void send_batch(const Step& step);
    void receive_batch(const Step& step);
    void call(size_t length, size_t capacity, int32_t timeout_ms, bool in_place);
    void receive_reply(size_t capacity, int32_t timeout_ms);
    void receive_request(int32_t timeout_ms);
    void reply(size_t length, int32_t timeout_ms);
    void fail_request(int32_t timeout_ms);
    void submit(const Step& step);
    ipc_status submit_one(size_t length, int32_t timeout_ms);
    void complete(size_t capacity, int32_t timeout_ms);
    void completed(uint64_t tag, ipc_status outcome, const void* bytes, size_t length);
    void defer_request();
    void answer_deferred(const Step& step, bool fails);
    // What of the incoming answers comes next, for who completes: one of this call, or of any other in flight.
    Awaited awaited(uint32_t call) const { return {call, &in_flight_, calls_}; }
    void count_in_flight() { in_flight_count_ = in_flight_.size(); }
    void serve(uint8_t choices);
    ipc_status handle(const void* request, size_t length, ipc_reply_writer* writer);
    void close();
    void free();

    Session& session_;
    const unsigned side_;
    ipc_channel* const channel_;
    const std::string name_;

    // Guards what decides on freeing; never held inside a call.
    std::mutex mutex_;
    bool freed_ = false;
    bool frees_after_step_ = false;
    int closers_ = 0;
    int interrupters_ = 0;
    unsigned closings_ = 0;         // begun, from anywhere
    bool first_close_seen_ = false; // some call has returned IPC_CLOSED

    // The channel's receiver is being called back, or may be; and how often that has begun.
    std::atomic<bool> interrupted_{false};
    std::atomic<unsigned> interruptions_{0};
    // The receiving call under way, by its number; 0 between calls.
    std::atomic<unsigned> receiving_{0};
    unsigned calls_made_ = 0;

    Watched watched_;
    Watched watched_closer_;

    // ---- the model
    Room room_ = Room::none;
    void* room_memory_ = nullptr;
    size_t room_length_ = 0;
    uint32_t room_sequence_ = 0;

    Held held_ = Held::nothing;
    Frame held_frame_;
    const void* held_bytes_ = nullptr;
    bool kept_ = false;       // a reply awaits ipc_receive_reply
    bool maybe_kept_ = false; // ... unless a receiving function has dropped it
    uint32_t kept_call_ = 0;  // to which call; one that failed to be submitted since then has taken the next number
    std::atomic<uint32_t> calls_{0};
    bool unsure_ = false;           // a call was given up, and its request may have come: the next must differ from it
    Kind expected_ = Kind::message; // by the receiving function under way
    bool expects_of_many_ = false;

    std::array<ipc_status, 2> failure_{}; // of sending, of receiving
    bool cut_here_ = false;               // a time-out has cut a message of this end
    bool sending_may_have_ended_ = false; // a function of both halves has told of the peer's end: sending may go on to

    // ---- of many calls in flight
    std::set<uint32_t> in_flight_; // numbers of requests that were sent and of whose ends this end has not been told
    std::atomic<size_t> in_flight_count_{0};
    bool submitting_ = false;
    struct Deferred {
        uint64_t token;
        uint32_t request;
    };
    std::vector<Deferred> deferred_;
    uint64_t newest_token_ = 0;

    // ---- of the handler of ipc_serve
    uint64_t dice_ = 0;
    Frame answer_;
    bool answering_ = false;
};

} // namespace fuzz
