#pragma once

#include <atomic>
#include <cstdint>

namespace ipc::shared_memory {

// Sleeping on a word of shared memory, and waking who sleeps there, whatever process it is in.
enum class Slept { woken, whole_time };

// Sleeps while the word is `value`, at most `nanoseconds`. Returns early for no reason at all, too. A word that this process
// may only read is as good as any.
Slept futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds);
void futex_wake_all(const std::atomic<uint32_t>& word);

} // namespace ipc::shared_memory
