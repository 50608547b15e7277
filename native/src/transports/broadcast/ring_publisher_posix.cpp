#include "transports/broadcast/ring_publisher_posix.hpp"

#include "shared_memory/wait_until.hpp"
#include "transports/broadcast/words.hpp"

#include <algorithm>

namespace ipc::broadcast {

using shared_memory::WaitMode;
using shared_memory::WaitsBy;

RingPublisher::RingPublisher(const Address& address, uint64_t ring_bytes, Start first)
    : address_(address.text()), ring_bytes_(ring_bytes), limit_(std::min(address.limit(), largest_message(ring_bytes))),
      policy_(shared_memory::wait_policy(address)), first_(first), position_(first.position), number_(first.number),
      claimed_(first.position), resume_(first.position), next_resume_(first.position), number_before_(first.number),
      number_after_(first.number), admission_(readers_, [this] { return start(); }) {}

Status RingPublisher::open(const posix::LocalName& name) {
    posix::Descriptor file, for_readers;
    const auto bytes = static_cast<size_t>(data_file_bytes(ring_bytes_)); // Address allows no size that would not fit
    if (Status s = shared_memory::make_sealed_memory(bytes, &file)) return s;
    if (Status s = shared_memory::map_memory(file, bytes, shared_memory::Access::read_write, &data_)) return s;
    if (Status s = shared_memory::freeze_writers(file, &for_readers)) return s;
    if (Status s = readers_.open()) return s;
    DataHeader& h = header();
    h.magic = shared_memory::mapping_magic;
    h.version = shared_memory::version;
    h.layout = layout_broadcast;
    h.ring_bytes = ring_bytes_;
    h.waits_by = static_cast<uint32_t>(policy_.mode == WaitMode::spin ? WaitsBy::spinning : WaitsBy::parking);
    h.published.store(first_.position, std::memory_order_relaxed);
    h.claimed.store(first_.position, std::memory_order_relaxed);
    h.resume.store(first_.position, std::memory_order_relaxed);
    return admission_.open(name, std::move(for_readers));
}

Status RingPublisher::subscribers(size_t* count) {
    *count = closed_.load(std::memory_order_relaxed) ? 0 : readers_.count();
    return IPC_OK;
}

Status RingPublisher::refuse(size_t length) const {
    if (closed_.load(std::memory_order_relaxed))
        return fail(IPC_CLOSED, "the publisher at %s was closed here", address_.c_str());
    return fail(IPC_MESSAGE_TOO_LARGE,
                "a message of %zu bytes is over the limit of %zu at %s: raise size= (a message may have "
                "half of it) or max=",
                length, limit_, address_.c_str());
}

Status RingPublisher::publish(const void* message, size_t length, const Deadline& deadline) {
    if (length > limit_ || closed_.load(std::memory_order_relaxed)) [[unlikely]]
        return refuse(length);
    const uint64_t end = position_ + footprint(length);
    if (ahead(end, claimed_) > 0) [[unlikely]]
        if (Status s = claim(end, deadline)) return s;
    Record& next = record(position_);
    next.length.store(static_cast<uint32_t>(length), std::memory_order_relaxed);
    next.number.store(number_, std::memory_order_relaxed);
    copy_in(next.words(), message, length);
    number_before_.store(++number_, std::memory_order_relaxed);
    // Release: whoever sees this position sees the record whole, and number_before_.
    header().published.store(end, std::memory_order_release);
    number_after_.store(number_, std::memory_order_release);
    position_ = end;
    if (readers_.may_park()) wake_readers();
    return IPC_OK;
}

void RingPublisher::wake_readers() {
    // Orders our publishing before the look: either the reader sees what we published or we see that it sleeps.
    // (A reader that is being let in at this very moment may be missed, and then looks for itself when its slice is over.)
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!readers_.take_parked()) return;
    // Readers sleep on the value they saw before their last look, so that a change between the two keeps them awake.
    header().wakes.fetch_add(1, std::memory_order_release);
    shared_memory::futex_wake_all(header().wakes);
}

// Position and number at one moment, seen from the admitting thread while the publishing one goes on.
Start RingPublisher::start() const {
    while (true) {
        const uint64_t after = number_after_.load(std::memory_order_acquire);
        const uint64_t position = header().published.load(std::memory_order_acquire);
        const uint64_t before = number_before_.load(std::memory_order_relaxed);
        if (before == after) return {position, after};
        shared_memory::relax();
    }
}

// Raises what may be overwritten to `end` and, to do so seldom, somewhat beyond. Under the mutex, so that a reader that is
// let in starts where nothing is claimed that it has still to read.
bool RingPublisher::try_to_claim(uint64_t end, Readers::Room* room) {
    std::lock_guard lock(readers_.mutex());
    // Closing ends the readers' connections, and nobody is waited for any more; but what they have not read is still theirs.
    if (closed_.load(std::memory_order_relaxed)) return false;
    *room = readers_.room(position_, ring_bytes_);
    if (ahead(end, room->limit) > 0) return false;
    const uint64_t wished = position_ + ring_bytes_ / 16;
    claimed_ = ahead(wished, end) <= 0 ? end : ahead(wished, room->limit) <= 0 ? wished : room->limit;
    move_resume();
    header().claimed.store(claimed_, std::memory_order_relaxed);
    // A reader that sees any byte written from here on sees the claim too, in its look after copying.
    std::atomic_thread_fence(std::memory_order_release);
    return true;
}

// An overtaken reader goes on a quarter to a half of the ring behind: far enough ahead of what is overwritten next, and
// without losing more than it must.
void RingPublisher::move_resume() {
    if (position_ - next_resume_ < ring_bytes_ / 4) return;
    resume_ = next_resume_;
    next_resume_ = position_;
    // Release: the record there was written long ago, but by this thread.
    header().resume.store(resume_, std::memory_order_release);
}

Status RingPublisher::claim(uint64_t end, const Deadline& deadline) {
    Readers::Room room{position_, -1};
    if (try_to_claim(end, &room)) return IPC_OK;
    // Without a reader that sets the limit there is always room, but in a publisher that is closed.
    if (room.slowest < 0) return refuse(0);
    // The mutex is left to the admitting thread, which may have a dead reader to remove, until there is news.
    const auto ready = [&] {
        return ahead(end, claimed_) <= 0 ||
               (readers_.has_moved(room.slowest, room.limit - ring_bytes_) && try_to_claim(end, &room));
    };
    const auto stop = [&](bool) {
        return closed_.load(std::memory_order_acquire)
                   ? fail(IPC_CLOSED, "the publisher at %s was closed here", address_.c_str())
                   : IPC_OK;
    };
    const auto park = [&](int64_t nanoseconds) {
        std::atomic<uint32_t>& wanted = readers_.page(static_cast<unsigned>(room.slowest)).room_wanted;
        const int asked = room.slowest;
        wanted.exchange(1, std::memory_order_seq_cst);
        // Another reader may have become the slowest meanwhile: then there is news, and the wait starts anew.
        if (ready() || room.slowest != asked || closed_.load(std::memory_order_seq_cst)) return false;
        return !shared_memory::futex_wait(wanted, 1, nanoseconds);
    };
    const Status status = shared_memory::wait_until(policy_, deadline, ready, stop, park);
    if (status != IPC_TIMED_OUT) return status;
    return fail(IPC_TIMED_OUT,
                "a subscriber of %s that asked to be waited for made no room within the time-out; nothing was "
                "published",
                address_.c_str());
}

void RingPublisher::close() {
    if (closed_.exchange(true, std::memory_order_seq_cst)) return;
    if (data_.data() == nullptr) return; // never opened
    header().closed.store(1, std::memory_order_release);
    admission_.close();
    header().wakes.fetch_add(1, std::memory_order_seq_cst);
    shared_memory::futex_wake_all(header().wakes);
    readers_.wake_publisher();
}

} // namespace ipc::broadcast
