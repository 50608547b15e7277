#pragma once

#include "core/message_queue.hpp"
#include "shared_memory/waiting.hpp"
#include "transports/ring/fifo.hpp"
#include "transports/ring/lifo.hpp"
#include "transports/ring/memory.hpp"
#include "transports/ring/ring_file.hpp"

#include <atomic>
#include <memory>

namespace ipc::ring {

// One opener's handle on a ring: messages copied in and out, waiting, and finishing for the dead.
class RingQueue final : public MessageQueue {
  public:
    // `limit`: the handle's own limit on messages, if smaller than a block.
    RingQueue(std::unique_ptr<RingFile> file, shared_memory::WaitPolicy policy, size_t limit);

    size_t limit() const override { return limit_; }
    Status enqueue(const void* message, size_t length, const Deadline& deadline) override;
    Status dequeue(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) override;
    void close() override;

  private:
    // One attempt each, which claims, copies and finishes. *blocker: the state in the way, 0 if there is none (fifo).
    Claim try_enqueue(const void* message, uint32_t length, uint64_t* blocker);
    Claim try_dequeue(void* buffer, size_t capacity, uint32_t* length, uint64_t* blocker);

    // Repeats attempt(&blocker) until it is not blocked, this handle closes (IPC_CLOSED) or the time is over (IPC_TIMED_OUT).
    template <class Attempt>
    Status wait(Side side, const Deadline& deadline, Claim* claim, uint64_t blocker, Attempt attempt);
    template <class Attempt>
    Status park(Side side, const Deadline& deadline, Claim* claim, uint64_t blocker, Attempt attempt);

    Status reason_to_stop(Side side, const Deadline& deadline) const;

    // Finishes for owners that died with a block in the way. At most once in 50 ms: it asks the kernel. True if a block
    // was freed or skipped.
    bool reclaim(Side side, uint64_t blocker);
    // Everything that has this owner. Lifo, where a dead owner's block is in nobody's way but missing; and on opening, what an
    // earlier holder of our own number left.
    bool sweep(bool own_number);
    Status damaged() const;

    std::unique_ptr<RingFile> file_;
    Memory memory_;
    Fifo<Memory> fifo_{memory_};
    Lifo<Memory> lifo_{memory_};
    shared_memory::WaitPolicy policy_;
    size_t limit_;
    std::atomic<bool> closed_{false};
    std::atomic<int64_t> last_reclaim_ns_{0};
};

} // namespace ipc::ring
