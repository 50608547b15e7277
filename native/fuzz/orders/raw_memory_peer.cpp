// The peers of `shm` and `shm-event`: what stands in the mapping, written and read by the book.
#include "finding.hpp"
#include "raw_peer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fuzz {
namespace {

constexpr uint32_t more = 1, continues = 2, in_data = 4, skip = 8, run = 16, back = 64;

class MemoryPeer : public RawPeer {
  public:
    MemoryPeer(int socket, std::byte* memory, size_t bytes, unsigned side)
        : socket_(socket), memory_(memory), bytes_(bytes), own_(side), slots_(word32(12)), size_(word64(16)) {
        word32(640 + 512 * own_) = 2; // may park
    }
    ~MemoryPeer() override {
        MemoryPeer::die();
        munmap(memory_, bytes_);
    }

    void close() override {
        word32(644 + 512 * own_) = 1;
        for (unsigned ring : {0u, 1u})
            for (size_t parked : {384u, 512u}) wake_at(parked + 512 * ring);
        die();
    }
    void die() override {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    void scribble(uint64_t where, uint64_t value, size_t bytes) override {
        // Mostly the words of control and the slots that come next; else anywhere.
        size_t at = static_cast<size_t>(where >> 8);
        switch (where % 8) {
        case 0:
            at = at % bytes_;
            break;
        case 1:
            at = at % 64 * 8;
            break;
        case 2:
            at = 256 + at % 128 * 8;
            break;
        case 3:
            at = 2048 + at % 128;
            break;
        default:
            at = near(at);
            break;
        }
        bytes = std::min(bytes, bytes_ - std::min(at, bytes_));
        std::memcpy(memory_ + at, &value, bytes);
        if (where % 16 < 12)
            for (unsigned ring : {0u, 1u})
                for (size_t parked : {384u, 512u}) wake_at(parked + 512 * ring);
    }

  protected:
    // Somewhere about the record that comes next, each way.
    virtual size_t near(size_t choice) = 0;

    std::atomic<uint32_t>& word32(size_t at) { return *reinterpret_cast<std::atomic<uint32_t>*>(memory_ + at); }
    std::atomic<uint64_t>& word64(size_t at) { return *reinterpret_cast<std::atomic<uint64_t>*>(memory_ + at); }
    void wake_at(size_t at) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (word32(at).exchange(0) != 0) syscall(SYS_futex, memory_ + at, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
    }
    void wake_reader() { wake_at(384 + 512 * own_); }
    void wake_writer() { wake_at(512 + 512 * (own_ ^ 1)); }

    int socket_;
    std::byte* const memory_;
    const size_t bytes_;
    const unsigned own_;
    const uint32_t slots_; // of each ring, as they were handed over
    const uint64_t size_;
};

class RingPeer final : public MemoryPeer {
  public:
    using MemoryPeer::MemoryPeer;

    void take_all() override {
        const unsigned ring = own_ ^ 1;
        while (true) {
            const size_t at = slot_at(ring, read_slots_);
            const uint64_t sequence = word64(at).load(std::memory_order_acquire);
            if (static_cast<uint32_t>(sequence) != static_cast<uint32_t>(read_slots_ + 1)) break;
            const auto length = static_cast<size_t>(sequence >> 32);
            const auto kind_and_flags = static_cast<uint32_t>(word64(at + 8).load());
            if (!take_record(ring, at, length, static_cast<Kind>(kind_and_flags & 0xFFFF), kind_and_flags >> 16))
                return;
        }
        word64(264 + 512 * ring) = read_data_;
        word64(256 + 512 * ring) = read_slots_;
        wake_writer();
    }

  protected:
    size_t near(size_t choice) override {
        const unsigned ring = choice & 1;
        const uint64_t position = (ring == own_ ? written_slots_ : read_slots_) + choice / 2 % 4;
        return slot_at(ring, position) + choice / 8 % 8 * 4;
    }

    void put_some(size_t portion, bool wake) override {
        const uint64_t read = word64(256 + 512 * own_).load(std::memory_order_acquire);
        const uint64_t read_data = word64(264 + 512 * own_).load(std::memory_order_acquire);
        const auto kind = static_cast<uint32_t>(frame_.kind);
        const size_t length = payload_.size();
        const uint64_t to_end = slots_ - written_slots_ % slots_;
        // A message in slots, whole; by the portion some short ones go through the data area, too.
        if (done_ == 0 && length <= std::min<size_t>(2032, slots_ / 2 * size_t{64} - 16) && portion % 4 != 3) {
            const uint64_t count = (length + 79) / 64;
            const uint64_t passed = count > to_end ? to_end : 0;
            if (written_slots_ + passed + count - read > slots_) return;
            if (passed != 0) put_header(0, skip, 0, passed);
            if (length != 0) std::memcpy(memory_ + slot_at(own_, written_slots_) + 16, payload_.data(), length);
            put_header(kind, 0, length, count);
            done_ = length;
            all_out_ = true;
        } else {
            const size_t now = std::min({length - done_, static_cast<size_t>(size_ / 2), std::max<size_t>(portion, 1)});
            const uint64_t place = place_of(written_data_, now);
            const uint64_t end = place + ((now + 63) & ~size_t{63});
            if (written_slots_ + 1 - read > slots_ || end - read_data > size_) return;
            if (now != 0) std::memcpy(data_at(own_, place), payload_.data() + done_, now);
            const uint64_t total = length;
            std::memcpy(memory_ + slot_at(own_, written_slots_) + 16, &total, sizeof total);
            const bool first = done_ == 0;
            done_ += now;
            all_out_ = done_ == length;
            put_header(kind, in_data | (first ? 0 : continues) | (all_out_ ? 0 : more), now, 1);
            written_data_ = end;
        }
        if (wake) wake_reader();
    }

  private:
    size_t slot_at(unsigned ring, uint64_t position) const {
        return 4096 + (ring * size_t{slots_} + static_cast<size_t>(position % slots_)) * 64;
    }
    std::byte* data_at(unsigned ring, uint64_t position) const {
        const size_t start = 4096 + ((size_t{2} * slots_ * 64 + 4095) & ~size_t{4095});
        return memory_ + start + ring * size_ + position % size_;
    }
    uint64_t place_of(uint64_t position, size_t length) const {
        const uint64_t taken = (length + 63) & ~size_t{63};
        return position % size_ + taken > size_ ? (position / size_ + 1) * size_ : position;
    }
    void put_header(uint32_t kind, uint32_t flags, size_t length, uint64_t count) {
        const size_t at = slot_at(own_, written_slots_);
        // By the book: the slot behind the record does not hold its sequence yet.
        std::atomic<uint32_t>& behind = word32(slot_at(own_, written_slots_ + count));
        const auto due = static_cast<uint32_t>(written_slots_ + count + 1);
        if (behind == due) behind = due - 1;
        word64(at + 8) = uint64_t{id_} << 32 | kind | flags << 16;
        word64(at).store(uint64_t{length} << 32 | static_cast<uint32_t>(written_slots_ + 1), std::memory_order_release);
        written_slots_ += count;
    }
    bool take_record(unsigned ring, size_t at, size_t length, Kind kind, uint32_t flags) {
        if (flags == skip) {
            read_slots_ += slots_ - read_slots_ % slots_;
            return true;
        }
        const std::byte* bytes = memory_ + at + 16;
        uint64_t count = 1;
        if ((flags & in_data) == 0) {
            count = (length + 79) / 64;
            if (at + 16 + length > 4096 + (ring + size_t{1}) * slots_ * 64)
                return false; // only in memory scribbled over
        } else {
            if (length > size_ / 2) return false;
            const uint64_t place = place_of(read_data_, length);
            bytes = data_at(ring, place);
            read_data_ = place + ((length + 63) & ~size_t{63});
        }
        gathered_.insert(gathered_.end(), bytes, bytes + length);
        uint32_t each = static_cast<uint32_t>(gathered_.size());
        if ((flags & run) != 0) std::memcpy(&each, memory_ + at + 16, sizeof each);
        if ((flags & more) == 0) {
            if ((flags & run) != 0 && (each == 0 || length % each != 0)) return false;
            size_t done = 0;
            do {
                got(kind, gathered_.data() + done, each);
                done += each;
            } while (done < gathered_.size());
            gathered_.clear();
        }
        read_slots_ += count;
        if ((flags & back) != 0) read_slots_ = (read_slots_ + slots_ - 1) / slots_ * slots_;
        return gathered_.size() < (size_t{1} << 24);
    }

    uint64_t written_slots_ = 0, written_data_ = 0, read_slots_ = 0, read_data_ = 0;
    std::vector<std::byte> gathered_;
};

class BlockPeer final : public MemoryPeer {
  public:
    using MemoryPeer::MemoryPeer;

    void take_all() override {
        const size_t at = 2048 + 64 * (own_ ^ 1);
        if (word32(at).load(std::memory_order_acquire) != 1) return;
        const size_t length = word32(at + 4);
        if (length > size_) return;
        got(static_cast<Kind>(word32(at + 8).load()), memory_ + 4096 + (own_ ^ 1) * size_, length);
        word32(at).store(0, std::memory_order_release);
        wake_writer();
    }

  protected:
    size_t near(size_t choice) override { return 2048 + choice % 32 * 4; }
    void put_some(size_t, bool wake) override {
        const size_t at = 2048 + 64 * own_;
        if (word32(at).load(std::memory_order_acquire) != 0) return;
        if (!payload_.empty()) std::memcpy(memory_ + 4096 + own_ * size_, payload_.data(), payload_.size());
        word32(at + 4) = static_cast<uint32_t>(payload_.size());
        word32(at + 8) = static_cast<uint32_t>(frame_.kind);
        word32(at + 12) = id_;
        word32(at).store(1, std::memory_order_release);
        all_out_ = true;
        if (wake) wake_reader();
    }
};

} // namespace

std::unique_ptr<RawPeer> make_ring_peer(int socket, std::byte* memory, size_t bytes, unsigned side) {
    return std::make_unique<RingPeer>(socket, memory, bytes, side);
}

std::unique_ptr<RawPeer> make_block_peer(int socket, std::byte* memory, size_t bytes, unsigned side) {
    return std::make_unique<BlockPeer>(socket, memory, bytes, side);
}

} // namespace fuzz
