// ring.hpp - a ring of slots from one writer to one reader, and nothing else: this header alone, C++17, no library to link.
//
// For who wants no boundary at all: two threads, or two processes that share memory already. A message takes fewer steps than over a
// channel of `shm`, because nothing is called and nothing is checked; `scripts/bench.sh` measures both (docs/experiments.md). What a
// channel does and a ring does not: waiting (a ring is asked again and again), noticing that the other side closed or died, messages
// of any length, replies, handles that any thread may close, another language. A ring trusts its other side to keep to the rules: one
// that does not can give wrong messages, though none from outside the ring's memory.
//
//     struct Tick { uint64_t time; double price; };
//     using Ticks = ipc::SpscRing<Tick>;
//     alignas(64) static std::byte memory[Ticks::bytes(1024)]; // zeros; or fresh pages of mmap
//
//     Ticks::Writer writer(memory, 1024);          // in one thread or process, once
//     if (Tick* tick = writer.room()) {            // nullptr: full
//         *tick = {now, price};
//         writer.publish();
//     }
//     Ticks::Reader reader(memory, 1024);          // in the other, once
//     if (const Tick* tick = reader.next()) {      // nullptr: empty
//         use(*tick);
//         reader.release();
//     }
#ifndef IPC_RING_HPP
#define IPC_RING_HPP

// Visual C++ takes C++14 unless told otherwise, and says in its own macro what it takes.
#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#    error "ipc/ring.hpp needs C++17: compile with -std=c++17 or /std:c++17, or later"
#endif

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ipc {

// `Message` lies in the ring as it is; both sides must lay it out alike.
template <class Message>
class SpscRing {
    static_assert(std::is_trivially_copyable_v<Message> && std::is_trivially_destructible_v<Message>,
                  "bytes are all that another process can share");
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would be in one process only");
    static constexpr std::size_t line = 64;
    static_assert(alignof(Message) <= line);

    // A message begins on a line of its own, behind its sequence. So a short message crosses between two cores as one line, and the
    // writer fills the next line while the reader looks at this one. Several to a line would be slower: the line would go back and
    // forth for each.
    struct alignas(line) Slot {
        std::atomic<std::uint64_t>
            sequence; // position + 1 once the message of that position is in it; else of a lap before
        Message message;
    };
    // The reader's line, which crosses to the writer once a quarter of a lap, and the one that processors fetch along with it.
    struct alignas(line) Header {
        std::atomic<std::uint64_t> read; // messages that the reader has given back
        std::byte apart[2 * line - sizeof(std::uint64_t)];
    };
    static_assert(sizeof(Header) == 2 * line);

    static Slot* slots_in(void* memory) {
        return reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) + sizeof(Header));
    }
    static std::atomic<std::uint64_t>& read_in(void* memory) { return static_cast<Header*>(memory)->read; }
    // Slots are found by a mask: with another number of them messages would overwrite each other.
    static void* checked(void* memory, [[maybe_unused]] std::size_t count) {
        assert(count > 0 && (count & (count - 1)) == 0 && "the number of slots is a power of two");
        assert(reinterpret_cast<std::uintptr_t>(memory) % line == 0 && "the memory begins at a multiple of 64");
        return memory;
    }

  public:
    // Memory for so many slots, a power of two: zeros when both ends are made, at a multiple of 64. Both are asserted unless NDEBUG is
    // defined.
    static constexpr std::size_t bytes(std::size_t count) { return sizeof(Header) + count * sizeof(Slot); }

    class Writer {
      public:
        Writer(void* memory, std::size_t count)
            : slots_(slots_in(checked(memory, count))), read_(read_in(memory)), mask_(count - 1) {}

        // Where the next message goes; nullptr while the ring is full. The same until publish().
        Message* room() {
            if (free_ == 0 && !look_at_reader()) return nullptr;
            return &slots_[position_ & mask_].message;
        }
        // Makes what is in room() the reader's. Only after room() gave a place.
        void publish() {
            // Release: the reader that sees the sequence sees the message written before it.
            slots_[position_ & mask_].sequence.store(position_ + 1, std::memory_order_release);
            ++position_;
            --free_;
        }
        bool try_push(const Message& message) {
            Message* const place = room();
            if (place == nullptr) return false;
            *place = message;
            publish();
            return true;
        }

      private:
        // The reader's position is fetched only when, as far as is known, there is no room: each time, a line crosses.
        bool look_at_reader() {
            // Acquire: pairs with the release in give_back(). The reader's use of the messages up to there is over.
            const std::uint64_t under_way = position_ - read_.load(std::memory_order_acquire);
            free_ = under_way <= mask_ ? mask_ + 1 - under_way : 0;
            return free_ != 0;
        }

        Slot* slots_;
        std::atomic<std::uint64_t>& read_;
        std::uint64_t mask_;
        std::uint64_t position_ = 0; // of the next message, since the start
        std::uint64_t free_ = 0;     // slots that are free for certain
    };

    class Reader {
      public:
        Reader(void* memory, std::size_t count)
            : slots_(slots_in(checked(memory, count))), read_(read_in(memory)), mask_(count - 1) {}

        // The next message, where it lies; nullptr while there is none. The same until release().
        const Message* next() {
            const Slot& slot = slots_[position_ & mask_];
            // Acquire: pairs with the release in publish(). No other value is mistaken for it: the slot holds sequences only, and those
            // of other laps are smaller.
            if (slot.sequence.load(std::memory_order_acquire) == position_ + 1) return &slot.message;
            // The writer may be waiting for what has not been given back yet, and we are about to wait for the writer.
            if (given_ != position_) give_back();
            return nullptr;
        }
        // The message is done with; its slot goes back. Only after next() gave a message.
        void release() {
            ++position_;
            // In portions, so that the line with the position seldom crosses.
            if (position_ - given_ > mask_ / 4) give_back();
        }
        bool try_pop(Message& message) {
            const Message* const there = next();
            if (there == nullptr) return false;
            message = *there;
            release();
            return true;
        }

      private:
        void give_back() {
            given_ = position_;
            // Release: all our reading is done before the writer sees that it may overwrite.
            read_.store(position_, std::memory_order_release);
        }

        const Slot* slots_;
        std::atomic<std::uint64_t>& read_;
        std::uint64_t mask_;
        std::uint64_t position_ = 0; // of the next message, since the start
        std::uint64_t given_ = 0;    // as last told to the writer
    };
};

} // namespace ipc

#endif
