#include "posix/fork.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace ipc::posix {
namespace {

// What Linux lets a process have open unless its administrator raised that; descriptors beyond are inherited.
constexpr int most = 1 << 20;
constexpr int word_bits = 64;

// Pages of it that nobody has touched cost nothing. Bits rather than a list, because the child must not wait for a lock.
std::atomic<uint64_t> kept[most / word_bits];
std::atomic<int> words_used{0};

// In the child, where only what a signal handler may call is allowed.
void drop_in_child() {
    const int nothing = open("/", O_PATH | O_CLOEXEC);
    const int words = words_used.load(std::memory_order_relaxed);
    for (int word = 0; word < words; ++word)
        for (uint64_t left = kept[word].load(std::memory_order_relaxed); left != 0; left &= left - 1) {
            const int descriptor = word * word_bits + std::countr_zero(left);
            if (nothing < 0 || dup3(nothing, descriptor, O_CLOEXEC) < 0) close(descriptor);
        }
    if (nothing >= 0) close(nothing);
}

} // namespace

int keep_from_children(int descriptor) {
    if (descriptor < 0 || descriptor >= most) return descriptor;
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, drop_in_child);
    const int word = descriptor / word_bits;
    kept[word].fetch_or(uint64_t{1} << (descriptor % word_bits));
    int used = words_used.load();
    while (used <= word && !words_used.compare_exchange_weak(used, word + 1)) {
    }
    return descriptor;
}

void give_to_children(int descriptor) {
    if (descriptor < 0 || descriptor >= most) return;
    kept[descriptor / word_bits].fetch_and(~(uint64_t{1} << (descriptor % word_bits)));
}

} // namespace ipc::posix
