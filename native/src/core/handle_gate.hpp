#pragma once

#include "core/out_of_line.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

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
        std::atomic<uintptr_t> owner{0}; // of one of many: whose it is, for good; 0: nobody's yet
    };

    // Runs `work(given...)`, which does not throw, inside. `work` holds nothing and all it needs is given, by value: it then stays in
    // registers, also for the rare path, which is a function of its own with the same arguments.
    template <class Work, class... Given>
    auto pass(Door& door, Work work, Given... given) noexcept {
        if (is_taken(door)) [[unlikely]]
            return pass_counted(work, given...);
        enter(door);
        const auto result = work(given...);
        leave(door);
        return result;
    }

    // The same, counted: any number of threads.
    template <class Work, class... Given>
    IPC_OUT_OF_LINE auto pass_counted(Work work, Given... given) noexcept {
        const Visit visit(*this);
        return work(given...);
    }

    // Whether somebody is inside by this door.
    static bool is_taken(const Door& door) { return door.inside.load(std::memory_order_relaxed) != 0; }
    // Whether nobody is, nor has left anything undone: for who has just made all threads pass a fence.
    static bool is_empty(const Door& door) { return door.inside.load(std::memory_order_acquire) == 0; }

    // What pass() does by a door that is not taken.
    static void enter(Door& door) {
        door.inside.store(1, std::memory_order_relaxed);
        // The processor may do what follows first: fence_all_threads is the other half.
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    static void leave(Door& door) {
        // Release: all that was done inside is done before it can be seen that nobody is there.
        door.inside.store(0, std::memory_order_release);
    }

    // Being inside, counted, from beginning to end of a block.
    class Visit {
      public:
        explicit Visit(HandleGate& gate) : gate_(gate) { gate_.enter_beside(); }
        ~Visit() { gate_.leave_beside(); }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;

      private:
        HandleGate& gate_;
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
        const uintptr_t me = this_thread();
        // Threads' addresses differ in their upper bits; the constant, 2^64 / golden ratio, spreads those over the product's.
        const auto at = static_cast<size_t>((static_cast<uint64_t>(me) * 0x9E3779B97F4A7C15u) >> (64 - count_log2));
        HandleGate::Door& door = doors_[at];
        const uintptr_t owner = door.owner.load(std::memory_order_relaxed);
        if (owner == me) [[likely]]
            return &door;
        return owner == 0 && claim(door, me) ? &door : nullptr;
    }
    const auto& all() const { return doors_; }

  private:
    static constexpr unsigned count_log2 = 3;

    // Different for all threads that are alive, never 0, and cheaper than std::hash<std::thread::id>, which works bytes through.
    static uintptr_t this_thread() {
#if defined(__linux__) && defined(__x86_64__) && defined(__has_builtin)
#    if __has_builtin(__builtin_thread_pointer)
        return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#    else
        return address_of_own();
#    endif
#else
        return address_of_own();
#endif
    }
    static uintptr_t address_of_own() {
        static thread_local char own;
        return reinterpret_cast<uintptr_t>(&own);
    }
    static bool claim(HandleGate::Door& door, uintptr_t me) {
        uintptr_t nobody = 0;
        return door.owner.compare_exchange_strong(nobody, me);
    }

    std::array<HandleGate::Door, size_t{1} << count_log2> doors_;
};

} // namespace ipc
