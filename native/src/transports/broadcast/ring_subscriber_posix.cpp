#include "transports/broadcast/ring_subscriber_posix.hpp"

#include "posix/poll.hpp"
#include "shared_memory/handover.hpp"
#include "shared_memory/wait_until.hpp"
#include "transports/broadcast/words.hpp"

#include <cerrno>
#include <sys/socket.h>

namespace ipc::broadcast {

using shared_memory::WaitMode;
using shared_memory::WaitsBy;

namespace {

// A call that may not wait still gets over being overtaken, and over another time while it does that.
constexpr int most_attempts_in_time = 8;

} // namespace

// ---- joining

RingSubscriber::RingSubscriber(const Address& address, Policy policy, const posix::LocalName& name)
    : address_(address.text()), name_(name), policy_(policy), wait_policy_(shared_memory::wait_policy(address)),
      limit_(address.limit()) {}

Status RingSubscriber::open(const Address& address, Policy policy, const posix::LocalName& name,
                            const Deadline& deadline, std::unique_ptr<RingSubscriber>* subscriber) {
    std::unique_ptr<RingSubscriber> made(new RingSubscriber(address, policy, name));
    if (Status s = posix::connect_local(name, deadline, &made->socket_)) return s;
    if (Status s = made->join(deadline)) {
        if (s == IPC_PEER_CLOSED) posix::forget_dead_server(name.path, made->socket_.get(), deadline);
        return s;
    }
    *subscriber = std::move(made);
    return IPC_OK;
}

Status RingSubscriber::join(const Deadline& deadline) {
    const auto waits_by = wait_policy_.mode == WaitMode::spin ? WaitsBy::spinning : WaitsBy::parking;
    const Join request{join_magic, shared_memory::version, static_cast<uint32_t>(policy_),
                       static_cast<uint32_t>(waits_by)};
    // A publisher that goes meanwhile says so by the end of its answer.
    shared_memory::send_with_descriptors(socket_.get(), &request, sizeof request, nullptr, 0);
    Greeting greeting{};
    posix::Descriptor data, page_file;
    if (Status s = receive_greeting(deadline, &greeting, &data, &page_file)) return s;
    if (Status s = map(data, page_file)) return s;
    position_ = greeting.position;
    number_ = greeting.number;
    return position_ % 16 == 0 ? IPC_OK : not_the_form();
}

Status RingSubscriber::receive_greeting(const Deadline& deadline, Greeting* greeting, posix::Descriptor* data,
                                        posix::Descriptor* page_file) {
    pollfd readable{socket_.get(), POLLIN, 0};
    const int ready = posix::poll_until(&readable, 1, deadline);
    if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for the publisher at %s", address_.c_str());
    if (ready == 0)
        return fail(IPC_TIMED_OUT, "the publisher at %s did not let this subscriber in within the time-out",
                    address_.c_str());
    posix::Descriptor received[2];
    size_t count = 0;
    const long got =
        shared_memory::receive_with_descriptors(socket_.get(), greeting, sizeof *greeting, received, 2, &count);
    if (got == 0 || got == -ECONNRESET)
        return fail(IPC_PEER_CLOSED,
                    "the publisher at %s closed or died before it let this subscriber in: open it again",
                    address_.c_str());
    if (got < 0)
        return fail_system(IPC_SYSTEM, static_cast<int>(-got), "cannot take the shared memory of the publisher at %s",
                           address_.c_str());
    if (got != static_cast<long>(sizeof *greeting) || greeting->magic != shared_memory::handover_magic ||
        greeting->version != shared_memory::version || greeting->layout != layout_broadcast)
        return fail(IPC_NOT_OUR_PROTOCOL,
                    "what listens at %s is not a publisher, or of another version: check the address",
                    address_.c_str());
    if (greeting->answer == static_cast<uint32_t>(Answer::full))
        return fail(IPC_NOT_AVAILABLE,
                    "the publisher at %s has all the subscribers it can have (%u): close one of them first",
                    address_.c_str(), most_readers);
    if (greeting->answer != static_cast<uint32_t>(Answer::welcome) || count != 2) return not_the_form();
    *data = std::move(received[0]);
    *page_file = std::move(received[1]);
    return IPC_OK;
}

Status RingSubscriber::map(const posix::Descriptor& data, const posix::Descriptor& page_file) {
    // Without the seals the publisher could shrink the memory under us, and touching it would kill this process.
    const size_t bytes = shared_memory::sealed_bytes(data);
    if (bytes < header_bytes || shared_memory::sealed_bytes(page_file) != page_bytes) return not_the_form();
    if (Status s = shared_memory::map_memory(data, bytes, shared_memory::Access::read, &data_)) return s;
    if (Status s = shared_memory::map_memory(page_file, page_bytes, shared_memory::Access::read_write, &page_))
        return s;
    const DataHeader& h = header();
    ring_bytes_ = h.ring_bytes;
    publisher_may_park_ = h.waits_by != static_cast<uint32_t>(WaitsBy::spinning);
    const bool sound = h.magic == shared_memory::mapping_magic && h.version == shared_memory::version &&
                       h.layout == layout_broadcast && is_ring_size(ring_bytes_) &&
                       bytes == data_file_bytes(ring_bytes_);
    return sound ? IPC_OK : not_the_form();
}

Status RingSubscriber::not_the_form() const {
    return fail(IPC_NOT_OUR_PROTOCOL,
                "the shared memory that the publisher at %s handed over is not of the form expected: "
                "check the address and both versions",
                address_.c_str());
}

// ---- receiving

Status RingSubscriber::receive(void* buffer, size_t capacity, size_t* length, uint64_t* lost,
                               const Deadline& deadline) {
    *lost = 0;
    *length = 0;
    for (int attempts = 1;; ++attempts) {
        if (closed_.load(std::memory_order_relaxed) || broken_ != IPC_OK) return break_with(broken_);
        if (!has_message())
            if (Status s = wait_for_message(deadline)) return s;
        const Record& message = record();
        // Copied once: the publisher may change them while we check.
        const size_t bytes = message.length.load(std::memory_order_relaxed);
        const uint64_t number = message.number.load(std::memory_order_relaxed);
        if (still_there()) [[likely]] {
            if (Status s = check(bytes, number)) return s;
            if (bytes > capacity) {
                *length = bytes;
                return fail(IPC_BUFFER_TOO_SMALL,
                            "the message has %zu bytes and the buffer %zu: ask again with room for it", bytes,
                            capacity);
            }
            copy_out(buffer, message.words(), bytes);
            if (still_there()) [[likely]] {
                *length = bytes;
                *lost = number - number_;
                number_ = number + 1;
                overtaken_ = false;
                position_ += footprint(bytes);
                if (policy_ == Policy::wait) give_back();
                return IPC_OK;
            }
        }
        if (Status s = overtaken()) return s;
        if (attempts >= most_attempts_in_time && deadline.expired())
            return fail(IPC_TIMED_OUT,
                        "%s is overwritten faster than this subscriber can copy: raise size= at the publisher",
                        address_.c_str());
    }
}

// What a record says of itself, once it is known to be whole; no publisher of ours writes anything that fails here.
Status RingSubscriber::check(size_t length, uint64_t number) {
    const uint64_t published = header().published.load(std::memory_order_relaxed);
    const bool sound = length <= largest_message(ring_bytes_) && footprint(length) <= published - position_ &&
                       (overtaken_ ? ahead(number, number_) > 0 : number == number_);
    if (!sound) {
        broken_ = IPC_NOT_OUR_PROTOCOL;
        return break_with(broken_);
    }
    if (length <= limit_) [[likely]]
        return IPC_OK;
    broken_ = IPC_PEER_TOO_LARGE;
    return break_with(broken_);
}

Status RingSubscriber::break_with(Status status) {
    if (closed_.load(std::memory_order_acquire)) return closed_here();
    if (status == IPC_PEER_TOO_LARGE)
        return fail(status,
                    "the publisher at %s published a message over this side's limit of %zu bytes: raise it with max=",
                    address_.c_str(), limit_);
    return fail(IPC_NOT_OUR_PROTOCOL, "the publisher at %s wrote a damaged message: open it again", address_.c_str());
}

// Goes on where the publisher says an overtaken reader should, or at the newest when even that is gone.
Status RingSubscriber::overtaken() {
    if (policy_ == Policy::wait) {
        // The publisher has given this reader up: because it closed or broke the contract.
        if (Status s = reason_to_stop(true, Deadline(0))) return s;
        broken_ = IPC_NOT_OUR_PROTOCOL;
        return break_with(broken_);
    }
    overtaken_ = true;
    const uint64_t resume = header().resume.load(std::memory_order_acquire);
    const bool good = ahead(resume, position_) > 0 && resume % 16 == 0 &&
                      header().claimed.load(std::memory_order_relaxed) - resume <= ring_bytes_;
    position_ = good ? resume : header().published.load(std::memory_order_acquire);
    return position_ % 16 == 0 ? IPC_OK : break_with(broken_ = IPC_NOT_OUR_PROTOCOL);
}

// Tells the publisher, which alone needs to know, how far this reader is.
void RingSubscriber::give_back() {
    ReaderPage& own = page();
    // Release: our copying is over before the publisher may overwrite.
    own.cursor.store(position_, std::memory_order_release);
    if (!publisher_may_park_) return;
    // Either the publisher sees the cursor or we see that it sleeps.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (own.room_wanted.load(std::memory_order_relaxed) != 0 &&
        own.room_wanted.exchange(0, std::memory_order_seq_cst) != 0)
        shared_memory::futex_wake_all(own.room_wanted);
}

// ---- waiting and ending

Status RingSubscriber::wait_for_message(const Deadline& deadline) {
    const auto ready = [this] { return has_message(); };
    const auto stop = [&](bool look) { return reason_to_stop(look, deadline); };
    const auto park = [this](int64_t nanoseconds) {
        std::atomic<uint32_t>& parked = page().parked;
        parked.store(1, std::memory_order_relaxed);
        // Orders the announcement before the looks below: a publisher that sees no 1 has published what they find.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        // Seen before the last look: whoever publishes after that look changes it, and then there is no sleep.
        const uint32_t wakes = header().wakes.load(std::memory_order_acquire);
        const bool quiet = !has_message() && header().closed.load(std::memory_order_acquire) == 0 &&
                           !closed_.load(std::memory_order_seq_cst);
        const bool whole = quiet && !shared_memory::futex_wait(header().wakes, wakes, nanoseconds);
        parked.store(0, std::memory_order_relaxed);
        return whole;
    };
    const Status status = shared_memory::wait_until(wait_policy_, deadline, ready, stop, park);
    if (status != IPC_TIMED_OUT) return status;
    return fail(IPC_TIMED_OUT, "nothing was published at %s within the time-out", address_.c_str());
}

Status RingSubscriber::closed_here() const {
    return fail(IPC_CLOSED, "the subscriber of %s was closed here", address_.c_str());
}

Status RingSubscriber::reason_to_stop(bool look_at_socket, const Deadline& deadline) {
    pollfd socket{socket_.get(), POLLIN, 0};
    const bool ended = publisher_gone_ || (look_at_socket && poll(&socket, 1, 0) > 0);
    // Asked after the look, because closing here looks like the publisher's end.
    if (closed_.load(std::memory_order_acquire)) return closed_here();
    if (header().closed.load(std::memory_order_acquire) != 0)
        return fail(IPC_PEER_CLOSED, "the publisher at %s has closed", address_.c_str());
    if (!ended) return IPC_OK;
    if (!publisher_gone_) posix::forget_dead_server(name_.path, socket_.get(), deadline);
    publisher_gone_ = true;
    return fail(IPC_PEER_CLOSED, "the publisher at %s is gone, or has ended this subscription", address_.c_str());
}

void RingSubscriber::close() {
    if (closed_.exchange(true, std::memory_order_seq_cst) || data_.data() == nullptr) return;
    // All readers share the word they sleep on, and it cannot be written here: wake them all, they look and sleep again.
    // A thread of our own on its way to sleep misses that, and looks around after a slice.
    shared_memory::futex_wake_all(header().wakes);
    shutdown(socket_.get(), SHUT_RDWR);
}

} // namespace ipc::broadcast
