#pragma once

#include "core/message_queue.hpp"
#include "shared_memory/parking.hpp"
#include "transports/queue/owner_lock.hpp"
#include "transports/queue/queue_file.hpp"

#include <atomic>
#include <memory>

namespace ipc::queue {

// Many writers, many readers, one byte ring. Writers take turns by one lock, readers by another. A message becomes part of
// the queue by the single store of `tail` and leaves it by the single store of `head`: before and after each of them the
// queue is sound, so a participant may die at any instruction and there is nothing to repair (docs/wire-formats.md, "Queues").
class NamedQueue final : public MessageQueue {
  public:
    NamedQueue(std::unique_ptr<QueueFile> file, size_t max, shared_memory::WaitPolicy policy);

    size_t limit() const override { return limit_; }
    Status enqueue(const void* message, size_t length, const Deadline& deadline) override;
    Status dequeue(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) override;
    void close() override;

  private:
    enum class Found { yes, no, damage };
    struct Room {
        uint32_t tail;    // where it begins; a multiple of 8
        uint32_t skipped; // bytes up to the end of the area that the record does not fit into, else 0
    };
    struct Record {
        const std::byte* message;
        uint32_t length;
        uint32_t after; // head once it is taken
    };

    // Under the writers' lock.
    Found find_room(uint32_t footprint, Room* room);
    bool fits(uint32_t used, uint32_t tail, uint32_t footprint, Room* room) const;
    void write_record(const Room& room, const void* message, uint32_t length);
    // Under the readers' lock.
    Found find_record(Record* record);

    // Without a lock, and therefore guesses that are checked under it.
    bool may_have_message() const;
    bool may_have_room(uint32_t footprint) const;

    template <class Ready>
    Status wait(shared_memory::ParkingWord& parked, const Deadline& deadline, const char* error_message, Ready ready);

    Status closed_here() const;
    Status damaged() const;

    std::byte* at(uint32_t position) const { return data_ + (position & mask_); }

    std::unique_ptr<QueueFile> file_;
    Header& header_;
    std::byte* data_;
    uint32_t size_;
    uint32_t mask_;
    uint32_t limit_;
    shared_memory::WaitPolicy policy_;
    OwnerLock writer_lock_;
    OwnerLock reader_lock_;
    std::atomic<bool> closed_{false};
};

} // namespace ipc::queue
