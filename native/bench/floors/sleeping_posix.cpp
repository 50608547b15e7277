#include "slots.hpp"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace floors {
namespace {

struct Sleep {
    static void open(Slot&) {}
    static void close(Slot&) {}
    static long futex(Slot& slot, int operation, uint32_t value) {
        return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&slot.turn), operation, value, nullptr, nullptr, 0);
    }
    static void signal(Slot& slot, uint32_t turn) {
        slot.turn.store(turn, std::memory_order_release);
        futex(slot, FUTEX_WAKE, INT_MAX);
    }
    static uint32_t await_change(Slot& slot, uint32_t last) {
        uint32_t turn;
        while ((turn = slot.turn.load(std::memory_order_acquire)) == last) futex(slot, FUTEX_WAIT, last);
        return turn;
    }
};

} // namespace

double futex_rtt_ns(const Setup& setup, Sizes sizes) {
    return slots_rtt_ns<Sleep>(setup, sizes);
}

} // namespace floors
