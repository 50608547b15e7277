#include "slots.hpp"
#include "streaming.hpp"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace floors {
namespace {

struct SleepForWord {
    static long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value) {
        return syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
    }
    static void signal(const std::atomic<uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX); }
    static uint32_t await_change(const std::atomic<uint32_t>& word, uint32_t last) {
        uint32_t now;
        while ((now = word.load(std::memory_order_acquire)) == last) futex(word, FUTEX_WAIT, last);
        return now;
    }
};

struct Sleep {
    static void open(Slot&) {}
    static void close(Slot&) {}
    static void signal(Slot& slot, uint32_t turn) {
        slot.turn.store(turn, std::memory_order_release);
        SleepForWord::signal(slot.turn);
    }
    static uint32_t await_change(Slot& slot, uint32_t last) { return SleepForWord::await_change(slot.turn, last); }
};

} // namespace

// A long message is through sooner in pieces: the sleeper is woken by the first one.
double futex_rtt_ns(const Setup& setup, Sizes sizes) {
    if (!worth_streaming(sizes)) return slots_rtt_ns<Sleep>(setup, sizes);
    const Setup share{setup.server_cpu, setup.client_cpu, setup.warmup_seconds / 2, setup.seconds / 2};
    return std::min(slots_rtt_ns<Sleep>(share, sizes), streamed_rtt_ns<SleepForWord>(share, sizes, in_pieces(sizes)));
}

} // namespace floors
