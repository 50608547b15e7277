#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace ipc {

// Knows who is inside the calls on a handle, so that what they use goes only when everybody has left. One mechanism for channels,
// listeners, queues, publishers and subscribers. Twin of managed HandleGate.
//
// Whoever goes in by a door stores a word of its own, and another when it goes out: two plain stores. The one who frees makes all
// threads pass a fence first (core/process_fence.hpp), so that it sees every word whose owner may have touched the handle. A door
// is for one thread at a time, as the handle's rules say; who finds it taken against the rules is counted, by locked
// instructions, and so is what is seldom done.
class HandleGate {
  public:
    // On a pair of lines of its own: the neighbouring line is fetched along with it.
    struct alignas(128) Door {
        std::atomic<uint32_t> inside{0};
        std::atomic<std::thread::id> owner{}; // for enter_any: a thread, for good
    };

    // Being inside, from beginning to end of a call.
    class Visit {
      public:
        Visit(HandleGate& gate, Door& door) : gate_(gate), door_(&door) {
            if (door.inside.load(std::memory_order_relaxed) != 0) [[unlikely]] {
                count_instead();
                return;
            }
            door.inside.store(1, std::memory_order_relaxed);
            // The processor may do what follows first: fence_all_threads is the other half.
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        // Counted: any number of threads.
        explicit Visit(HandleGate& gate) : gate_(gate), door_(nullptr) { gate_.enter_beside(); }
        ~Visit() {
            // Release: all that was done inside is done before it can be seen that nobody is there.
            if (door_ != nullptr) [[likely]]
                door_->inside.store(0, std::memory_order_release);
            else
                gate_.leave_beside();
        }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;

      private:
        void count_instead() {
            door_ = nullptr;
            gate_.enter_beside();
        }

        HandleGate& gate_;
        Door* door_; // null: counted
    };

    void enter_beside() { beside_.fetch_add(1, std::memory_order_seq_cst); }
    void leave_beside() { beside_.fetch_sub(1, std::memory_order_release); }

    // Waits until nobody is inside by these doors or beside them. The caller must not be inside, and whoever waits inside must
    // have been woken.
    template <size_t count>
    void await_empty(const std::array<Door, count>& doors) {
        await_empty(doors.data(), count);
    }
    void await_empty() { await_empty(nullptr, 0); }

  private:
    void await_empty(const Door* doors, size_t count);

    std::atomic<uint32_t> beside_{0};
};

// The doors of a handle that any number of threads may use at once: each of the first few has one for itself.
class SharedDoors {
  public:
    // This thread's door, or null if it has none.
    HandleGate::Door* mine() {
        const std::thread::id me = std::this_thread::get_id();
        HandleGate::Door& door = doors_[std::hash<std::thread::id>()(me) % doors_.size()];
        const std::thread::id owner = door.owner.load(std::memory_order_relaxed);
        if (owner == me) [[likely]]
            return &door;
        std::thread::id nobody;
        return owner == nobody && door.owner.compare_exchange_strong(nobody, me) ? &door : nullptr;
    }
    const std::array<HandleGate::Door, 8>& all() const { return doors_; }

  private:
    std::array<HandleGate::Door, 8> doors_;
};

} // namespace ipc
