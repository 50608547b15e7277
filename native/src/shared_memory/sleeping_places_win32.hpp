#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>
#include <windows.h>

namespace ipc::shared_memory {

// Windows has no futex that reaches into other processes (WaitOnAddress does not). In its place each word that somebody may
// sleep on has a kernel object, the same in every process (docs/wire-formats.md, "Sleeping on Windows"). What has words in
// shared memory registers them here; futex_wait and futex_wake look a word up when they are about to enter the kernel anyway,
// so that the algorithms above are the same on both systems and their fast paths know nothing of this.
struct SleepingPlace {
    // One sleeper at a time: an auto-reset event. Many: a semaphore, each of whose counts is for one sleeper.
    HANDLE wakeups = nullptr;
    bool many = false;
    // Many, where all are ever woken at once: counts that, in the mapping.
    std::atomic<uint32_t>* wakes_of_all = nullptr;
    // Ends every sleep for as long as it is set, as if the time were over; null if there is none.
    HANDLE alarm = nullptr;
};

// Words registered together, until this object goes. The handles are the caller's and must outlive it.
class SleepingPlaces {
  public:
    SleepingPlaces() = default;
    ~SleepingPlaces();
    SleepingPlaces(const SleepingPlaces&) = delete;
    SleepingPlaces& operator=(const SleepingPlaces&) = delete;

    void add(const std::atomic<uint32_t>& word, const SleepingPlace& place);

  private:
    std::vector<const std::atomic<uint32_t>*> words_;
};

// The most counts a semaphore may have: more sleepers than that need not be told apart.
inline constexpr LONG most_wakeups = 32;

} // namespace ipc::shared_memory
