#pragma once

#include "posix/descriptor.hpp"
#include "shared_memory/sealed_memory.hpp"
#include "transports/broadcast/layout.hpp"

#include <bit>
#include <mutex>

namespace ipc::broadcast {

// The publisher's table of its readers. Their pages lie side by side in memory that stays mapped as long as the table, so
// that the publishing thread may look at any page at any time; what is said of "present" readers alone counts.
// A reader can write anything into its page: the cursor is copied once and checked, the rest can only cost a wake-up.
class Readers {
  public:
    Status open();

    size_t count() const { return static_cast<size_t>(std::popcount(present_.load(std::memory_order_relaxed))); }

    // -- the publishing thread, on every message

    bool may_park() const { return parking_.load(std::memory_order_relaxed) != 0; }
    // Whether somebody sleeps and must be woken. Call after publishing and a full fence: either this sees that a reader
    // sleeps or the reader sees what was published. Takes the sleepers' marks away, so that the messages published until they
    // run again cost no further wake-up.
    bool take_parked() const {
        bool any = false;
        for (uint64_t left = parking_.load(std::memory_order_acquire); left != 0; left &= left - 1) {
            std::atomic<uint32_t>& parked = page(static_cast<unsigned>(std::countr_zero(left))).parked;
            if (parked.load(std::memory_order_relaxed) != 0) any |= parked.exchange(0, std::memory_order_seq_cst) != 0;
        }
        return any;
    }
    ReaderPage& page(unsigned place) const {
        return *reinterpret_cast<ReaderPage*>(pages_.data() + place * page_bytes);
    }

    // Whether a reader that set the limit at this cursor has read on or is gone: without it there is no need to look again.
    bool has_moved(int place, uint64_t cursor) const {
        const auto index = static_cast<unsigned>(place);
        return (present_.load(std::memory_order_acquire) >> index & 1) == 0 ||
               page(index).cursor.load(std::memory_order_acquire) != cursor;
    }

    // -- with the mutex held, which is not taken for every message: letting readers in and out, and finding room

    std::mutex& mutex() { return mutex_; }
    // False: all places are taken. The reader counts from now on.
    bool admit(const Join& join, const posix::Descriptor& page_file, uint64_t position, int socket, unsigned* place);
    void remove(unsigned place);

    struct Room {
        uint64_t limit; // up to here may be written without overwriting what is still to be read
        int slowest;    // the reader that sets the limit; -1: none does
    };
    // A reader whose cursor goes backwards or beyond what was published is no longer waited for, and loses its connection.
    Room room(uint64_t published, uint64_t ring_bytes);

    // Wakes the publishing thread, should it wait for some reader's room.
    void wake_publisher();

  private:
    void forget(unsigned place);

    shared_memory::Mapping pages_;
    std::mutex mutex_;
    std::atomic<uint64_t> present_{0}; // bit per place, as the next three
    std::atomic<uint64_t> parking_{0}; // present, and may sleep
    uint64_t waited_for_ = 0;          // present, with policy wait
    uint64_t taken_ = 0;               // not to be given away yet
    uint64_t cursors_[most_readers] = {};
    int sockets_[most_readers] = {}; // the admitting thread's
};

} // namespace ipc::broadcast
