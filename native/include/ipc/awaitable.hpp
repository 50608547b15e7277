// awaitable.hpp - calls that C++20 coroutines await, many under way at once on one channel, over ipc_submit and ipc_complete. Include it beside
// ipc.hpp; where the compiler has no coroutines it is empty.
#ifndef IPC_AWAITABLE_HPP
#define IPC_AWAITABLE_HPP

#include "ipc/channel.hpp"

#if defined(__cpp_impl_coroutine) && defined(__has_include)
#    if __has_include(<coroutine>)
#        include <coroutine>
#        define IPC_HAS_COROUTINES 1
#    endif
#endif

#if defined(IPC_HAS_COROUTINES)
#    include <array>
#    include <vector>

namespace ipc {

// The calls of one channel that coroutines await:
//
//     ipc::AwaitableCalls calls(channel);
//     size_t length = co_await calls.call(request, sizeof request, reply, sizeof reply);   // in any number of coroutines
//     while (calls.under_way() > 0) calls.wait();                                         // somewhere: resumes them
//
// Everything on one thread, the one that waits or polls, which resumes the coroutines; nothing else is called or sent on the channel meanwhile.
// It makes no coroutine type: any that can co_await will do. A coroutine that is destroyed while it awaits gives its call up; any that is
// resumed may destroy others. A call that finds the channel full waits for room before it is awaited, as ipc_submit does. This object lives
// longer than every coroutine that awaits it, and the channel longer than this object.
class AwaitableCalls {
  public:
    explicit AwaitableCalls(Channel& channel) : AwaitableCalls(channel.handle()) {}
    explicit AwaitableCalls(ipc_channel* channel) : channel_(channel) {
        free_.reserve(slots_.size());
        for (size_t tag = slots_.size(); tag > 0; --tag) free_.push_back(tag - 1);
    }
    AwaitableCalls(const AwaitableCalls&) = delete;
    AwaitableCalls& operator=(const AwaitableCalls&) = delete;

    template <bool Throws>
    class Call;

    // The reply's length. Throws Error as Channel::call() does, but a reply that is too long for its buffer is dropped. Request and reply stay
    // where they are until then.
    Call<true> call(const void* request, size_t size, void* reply, size_t capacity) noexcept;
    // The same as a Result; with IPC_BUFFER_TOO_SMALL the length that would have been needed.
    Call<false> try_call(const void* request, size_t size, void* reply, size_t capacity) noexcept;

    // How many calls are submitted, or wait for one of the IPC_MOST_IN_FLIGHT places.
    size_t under_way() const noexcept { return in_flight_ + queued_; }
    // Waits for the next call to be over and resumes its coroutine, and those whose calls are over as well; how many. IPC_TIMED_OUT is no failure,
    // but 0. With none under way there is nothing to wait for: 0 as well.
    size_t wait(int32_t timeout_ms = infinite) {
        submit_queued(); // a coroutine that threw left this undone
        size_t resumed = under_way() > 0 && resume_one(timeout_ms) ? 1 : 0;
        if (resumed > 0) resumed += poll();
        return resumed;
    }
    // Resumes the coroutines of all calls that are over, without waiting; how many. An event loop waits for the channel's descriptor
    // (Channel::descriptor) after this.
    size_t poll() {
        submit_queued();
        size_t resumed = 0;
        while (in_flight_ > 0 && resume_one(0)) ++resumed;
        return resumed;
    }

  private:
    // One co_await, in the frame of its coroutine.
    struct Waiter {
        enum class State { idle, queued, in_flight, over };

        AwaitableCalls* calls;
        const void* request;
        size_t size;
        void* reply;
        size_t capacity;
        State state = State::idle;
        ipc_status status = IPC_OK;
        size_t length = 0;
        size_t tag = 0;
        Waiter* next = nullptr;
        std::coroutine_handle<> coroutine = nullptr;
    };

    // False: it is over already, and has failed.
    bool begin(Waiter& waiter) noexcept {
        if (!free_.empty() && first_ == nullptr) return submit(waiter);
        waiter.state = Waiter::State::queued;
        (last_ == nullptr ? first_ : last_->next) = &waiter;
        last_ = &waiter;
        ++queued_;
        return true;
    }

    bool submit(Waiter& waiter) noexcept {
        waiter.tag = free_.back();
        waiter.status = ipc_submit(channel_, waiter.request, waiter.size, waiter.tag, infinite);
        if (waiter.status != IPC_OK) {
            waiter.state = Waiter::State::over;
            return false;
        }
        free_.pop_back();
        slots_[waiter.tag] = &waiter;
        waiter.state = Waiter::State::in_flight;
        ++in_flight_;
        return true;
    }

    void forget(Waiter& waiter) noexcept {
        if (waiter.state == Waiter::State::in_flight)
            slots_[waiter.tag] = nullptr; // its place stays taken until its reply has come
        if (waiter.state == Waiter::State::queued) unlink(waiter);
    }

    void unlink(Waiter& waiter) noexcept {
        Waiter* before = nullptr;
        for (Waiter* at = first_; at != &waiter; at = at->next) before = at;
        (before == nullptr ? first_ : before->next) = waiter.next;
        if (last_ == &waiter) last_ = before;
        waiter.next = nullptr;
        --queued_;
    }

    // Whether some call was over. Its coroutine runs before this returns, and may make further calls.
    bool resume_one(int32_t timeout_ms) {
        detail::Until until(timeout_ms);
        if (timeout_ms > 0) until.begin();
        uint64_t tag = 0;
        ipc_status outcome = IPC_OK;
        size_t length = 0;
        void* room = scratch_.data();
        ipc_status status = ipc_complete(channel_, &tag, &outcome, room, scratch_.size(), &length, timeout_ms);
        std::vector<std::byte> dropped;
        // Of a long reply only the beginning may have come. What has come of it stays, whichever buffer it is asked for with.
        while (status == IPC_BUFFER_TOO_SMALL) {
            Waiter* const waiter = slots_[static_cast<size_t>(tag)];
            const bool fits = waiter != nullptr && waiter->capacity >= length;
            if (!fits) dropped.resize(length);
            room = fits ? waiter->reply : dropped.data();
            const size_t capacity = fits ? waiter->capacity : length;
            status = ipc_complete(channel_, &tag, &outcome, room, capacity, &length, until.left_ms());
        }
        if (status == IPC_TIMED_OUT) return false;
        if (status != IPC_OK) return fail_one(status);
        finish(static_cast<size_t>(tag), outcome, room, length);
        return true;
    }

    void finish(size_t tag, ipc_status outcome, const void* room, size_t length) {
        Waiter* const waiter = slots_[tag];
        if (waiter != nullptr) {
            waiter->status = outcome;
            waiter->length = length;
            if (outcome == IPC_OK && length > waiter->capacity) waiter->status = IPC_BUFFER_TOO_SMALL;
            if (waiter->status == IPC_OK && room != waiter->reply && length > 0)
                std::memcpy(waiter->reply, room, length);
        }
        release(tag);
        if (waiter != nullptr) resume(*waiter);
    }

    // The channel has failed and knows of no call any more: those that wait for a place, or are still counted here, fail the same way.
    bool fail_one(ipc_status status) {
        for (size_t tag = 0; tag < slots_.size(); ++tag) {
            if (Waiter* const waiter = slots_[tag]) {
                waiter->status = status;
                release(tag);
                resume(*waiter);
                return true;
            }
        }
        if (first_ == nullptr) {
            // Only calls that were given up: nothing more is told of them.
            in_flight_ = 0;
            detail::throw_unless_ok(status);
        }
        Waiter& waiter = *first_;
        unlink(waiter);
        waiter.status = status;
        resume(waiter);
        return true;
    }

    void release(size_t tag) noexcept {
        slots_[tag] = nullptr;
        free_.push_back(tag);
        --in_flight_;
    }

    // At once, while ipc_last_error() is still about this call. The coroutine may destroy any other one that awaits, so nothing here remembers one
    // meanwhile; what it calls goes behind those that have waited longer.
    void resume(Waiter& waiter) {
        waiter.state = Waiter::State::over;
        waiter.coroutine.resume();
        submit_queued();
    }

    void submit_queued() {
        while (first_ != nullptr && !free_.empty()) {
            Waiter& next = *first_;
            unlink(next);
            if (!submit(next)) next.coroutine.resume();
        }
    }

    ipc_channel* channel_;
    std::array<Waiter*, IPC_MOST_IN_FLIGHT> slots_{};
    std::vector<size_t> free_;
    std::array<std::byte, 1024> scratch_;
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;
    size_t in_flight_ = 0;
    size_t queued_ = 0;
};

// What co_await takes; made by call() and try_call().
template <bool Throws>
class AwaitableCalls::Call {
  public:
    Call(AwaitableCalls& calls, const void* request, size_t size, void* reply, size_t capacity) noexcept
        : waiter_{&calls, request, size, reply, capacity} {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { waiter_.calls->forget(waiter_); }

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine) noexcept {
        waiter_.coroutine = coroutine;
        return waiter_.calls->begin(waiter_);
    }
    auto await_resume() const {
        if constexpr (Throws)
            return value_of(Result<size_t>(waiter_.status, waiter_.length));
        else
            return Result<size_t>(waiter_.status, waiter_.length);
    }

  private:
    Waiter waiter_;
};

inline AwaitableCalls::Call<true> AwaitableCalls::call(const void* request, size_t size, void* reply,
                                                       size_t capacity) noexcept {
    return {*this, request, size, reply, capacity};
}
inline AwaitableCalls::Call<false> AwaitableCalls::try_call(const void* request, size_t size, void* reply,
                                                            size_t capacity) noexcept {
    return {*this, request, size, reply, capacity};
}

} // namespace ipc

#endif
#endif
