#include "transports/ring/ring_queue.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::ring {
namespace {

using shared_memory::now_ns;
using shared_memory::sleep_slice_ns;
using shared_memory::spin_iterations;
using shared_memory::WaitMode;

} // namespace

RingQueue::RingQueue(std::unique_ptr<RingFile> file, shared_memory::WaitPolicy policy, size_t limit)
    : file_(std::move(file)), memory_(file_->memory(), file_->block_count(), file_->block_bytes()), policy_(policy),
      limit_(std::min<size_t>(limit, file_->block_bytes())) {
    sweep(true);
}

Claim RingQueue::try_enqueue(const void* message, uint32_t length, uint64_t* blocker) {
    const uint32_t me = file_->number();
    if (file_->order() == Order::fifo) {
        uint64_t position = 0;
        const Claim claim = fifo_.claim_write(me, &position, blocker);
        if (claim != Claim::taken) return claim;
        if (length != 0)
            std::memcpy(memory_.payload(static_cast<uint32_t>(position) & (memory_.count() - 1)), message, length);
        return fifo_.finish_write(position, me, length) ? Claim::taken : Claim::damaged;
    }
    uint32_t index = 0;
    const Claim claim = lifo_.claim_write(me, &index);
    if (claim != Claim::taken) return claim;
    if (length != 0) std::memcpy(memory_.payload(index), message, length);
    return lifo_.finish_write(index, me, length) ? Claim::taken : Claim::damaged;
}

Claim RingQueue::try_dequeue(void* buffer, size_t capacity, uint32_t* length, uint64_t* blocker) {
    const uint32_t me = file_->number();
    if (file_->order() == Order::fifo) {
        uint64_t position = 0;
        const Claim claim = fifo_.claim_read(me, capacity, &position, length, blocker);
        if (claim != Claim::taken) return claim;
        if (*length != 0)
            std::memcpy(buffer, memory_.payload(static_cast<uint32_t>(position) & (memory_.count() - 1)), *length);
        return fifo_.finish_read(position, me) ? Claim::taken : Claim::damaged;
    }
    uint32_t index = 0;
    const Claim claim = lifo_.claim_read(me, capacity, &index, length);
    if (claim != Claim::taken) return claim;
    if (*length != 0) std::memcpy(buffer, memory_.payload(index), *length);
    return lifo_.finish_read(index, me) ? Claim::taken : Claim::damaged;
}

Status RingQueue::enqueue(const void* message, size_t length, const Deadline& deadline) {
    if (length > limit_)
        return fail(IPC_MESSAGE_TOO_LARGE,
                    "a message of %zu bytes does not fit into %s, whose blocks have %u (this handle's limit is %zu): "
                    "make the ring with a larger block=",
                    length, file_->address().c_str(), file_->block_bytes(), limit_);
    const auto size = static_cast<uint32_t>(length);
    const auto attempt = [&](uint64_t* blocker) { return try_enqueue(message, size, blocker); };
    if (closed_.load(std::memory_order_relaxed)) return fail(IPC_CLOSED, "this ring was closed here");
    uint64_t blocker = 0;
    Claim claim = attempt(&blocker);
    if (claim == Claim::taken) [[likely]]
        return IPC_OK;
    if (claim != Claim::damaged)
        if (Status status = wait(Side::writers, deadline, &claim, blocker, attempt)) return status;
    return claim == Claim::taken ? IPC_OK : damaged();
}

Status RingQueue::dequeue(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) {
    uint32_t size = 0;
    const auto attempt = [&](uint64_t* blocker) { return try_dequeue(buffer, capacity, &size, blocker); };
    if (closed_.load(std::memory_order_relaxed)) return fail(IPC_CLOSED, "this ring was closed here");
    uint64_t blocker = 0;
    Claim claim = attempt(&blocker);
    if (claim == Claim::blocked || claim == Claim::contended)
        if (Status status = wait(Side::readers, deadline, &claim, blocker, attempt)) return status;
    *length = size;
    if (claim == Claim::taken) [[likely]]
        return IPC_OK;
    if (claim == Claim::damaged) return damaged();
    return fail(IPC_BUFFER_TOO_SMALL, "the next message of %s has %u bytes, the buffer %zu: ask again with room for it",
                file_->address().c_str(), size, capacity);
}

template <class Attempt>
Status RingQueue::wait(Side side, const Deadline& deadline, Claim* claim, uint64_t blocker, Attempt attempt) {
    const auto waiting = [&] { return *claim == Claim::blocked || *claim == Claim::contended; };
    // Also a caller that only polls gets past the dead.
    if (deadline.expired() && reclaim(side, blocker)) *claim = attempt(&blocker);
    if (policy_.mode != WaitMode::block) {
        int64_t start = 0, spun = 0;
        while (waiting() && !deadline.expired()) {
            for (int iteration = 0; iteration < spin_iterations && waiting(); ++iteration) {
                shared_memory::relax();
                *claim = attempt(&blocker);
            }
            if (!waiting()) return IPC_OK;
            if (closed_.load(std::memory_order_relaxed)) break;
            if (start == 0)
                start = now_ns();
            else
                spun = now_ns() - start;
            if (policy_.mode == WaitMode::adaptive && spun >= policy_.spin_ns) break;
            // Something else may need the processor, whoever we wait for first of all.
            if (shared_memory::only_one_processor() || spun >= shared_memory::yield_after_ns)
                shared_memory::yield_processor();
            if (spun >= sleep_slice_ns) reclaim(side, blocker);
        }
    }
    if (!waiting()) return IPC_OK;
    // Somebody who only polls must not make the other side believe that a sleeper is to be woken.
    if (Status status = reason_to_stop(side, deadline)) return status;
    return park(side, deadline, claim, blocker, attempt);
}

// Parking: set the word, try again, and only then sleep; whoever publishes does it the other way round, clears the word and
// wakes one. The one may find that another was faster, or take one message while more came; and the clearing may have been meant
// for one who was not asleep yet, whose word somebody else has set again. So whoever leaves sets the word for those who still
// sleep, looks, and hands the wake-up on (the model of the tests finds a message left lying otherwise).
template <class Attempt>
Status RingQueue::park(Side side, const Deadline& deadline, Claim* claim, uint64_t blocker, Attempt attempt) {
    std::atomic<uint32_t>& parked = memory_.parked(side);
    bool slept = false;
    Status status = IPC_OK;
    while (true) {
        parked.exchange(1);
        *claim = attempt(&blocker);
        if (*claim != Claim::blocked && *claim != Claim::contended) break;
        status = reason_to_stop(side, deadline);
        if (status != IPC_OK) break;
        if (*claim == Claim::contended) continue;
        // Not only after a whole slice: traffic behind a dead owner's block may wake us again and again.
        if (slept && reclaim(side, blocker)) {
            slept = false;
            continue;
        }
        shared_memory::futex_wait(parked, 1, std::min(deadline.left_ns(), sleep_slice_ns));
        slept = true;
    }
    parked.exchange(1);
    if (file_->order() == Order::fifo ? fifo_.worth_trying(side) : lifo_.worth_trying(side)) memory_.wake(side);
    return status;
}

Status RingQueue::reason_to_stop(Side side, const Deadline& deadline) const {
    if (closed_.load()) return fail(IPC_CLOSED, "this ring was closed here");
    if (!deadline.expired()) return IPC_OK;
    if (side == Side::readers)
        return fail(IPC_TIMED_OUT, "no message came to %s within the time-out", file_->address().c_str());
    return fail(IPC_TIMED_OUT, "%s stayed full for the time-out; nothing was put in", file_->address().c_str());
}

bool RingQueue::reclaim(Side side, uint64_t blocker) {
    const bool fifo = file_->order() == Order::fifo;
    // A dead writer's block in a list keeps nobody from reading the others.
    if (fifo ? !is_claimed(blocker) : side == Side::readers) return false;
    int64_t last = last_reclaim_ns_.load(std::memory_order_relaxed);
    const int64_t now = now_ns();
    if (last != 0 && now - last < sleep_slice_ns - sleep_slice_ns / 10) return false;
    if (!last_reclaim_ns_.compare_exchange_strong(last, now, std::memory_order_relaxed)) return false;
    if (!fifo) return sweep(false);
    return !file_->is_alive(owner_of(blocker)) && fifo_.recover(blocker);
}

bool RingQueue::sweep(bool own_number) {
    const uint32_t me = file_->number();
    uint32_t alive = 0; // neighbours often have the same owner: ask the kernel once
    bool any = false;
    // The dead may have announced a claim that no state shows yet; completed later, it would look like ours.
    if (file_->order() == Order::lifo && !lifo_.settle()) return false;
    for (uint32_t index = 0; index < memory_.count(); ++index) {
        const uint64_t state = memory_.load_state(index);
        if (!is_claimed(state)) continue;
        const uint32_t owner = owner_of(state);
        if (own_number ? owner != me : owner == alive) continue;
        if (!own_number && file_->is_alive(owner)) {
            alive = owner;
            continue;
        }
        if (file_->order() == Order::fifo ? fifo_.recover(state) : lifo_.recover(index, state, me)) any = true;
    }
    return any;
}

Status RingQueue::damaged() const {
    return fail(IPC_NOT_OUR_PROTOCOL,
                "the shared memory of %s holds what no writer or reader leaves there: "
                "end all processes that have it open and start again",
                file_->address().c_str());
}

void RingQueue::close() {
    if (closed_.exchange(true)) return;
    // Our own threads may be among the sleepers; the others find nothing changed and sleep on.
    for (const Side side : {Side::readers, Side::writers}) {
        std::atomic<uint32_t>& parked = memory_.parked(side);
        if (parked.exchange(0) != 0) shared_memory::futex_wake_all(parked);
    }
}

} // namespace ipc::ring
