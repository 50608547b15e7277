#include "ping_pong.hpp"

#include <atomic>
#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace floors {
namespace {

// One way of a ping-pong: the number of the message, then its bytes from the same cache line on.
struct Slot {
    std::atomic<uint32_t> turn;
    uint32_t unused;
    char bytes[56];
};
static_assert(sizeof(Slot) == 64);

size_t slot_size(size_t bytes) {
    return (sizeof(Slot) + bytes + 4095) & ~size_t{4095};
}

struct Spin {
    static void signal(Slot& slot, uint32_t turn) { slot.turn.store(turn, std::memory_order_release); }
    // Returns the turn reached.
    static uint32_t await_change(Slot& slot, uint32_t last) {
        uint32_t turn;
        while ((turn = slot.turn.load(std::memory_order_acquire)) == last) relax();
        return turn;
    }
};

struct Sleep {
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

constexpr uint32_t stop_turn = UINT32_MAX;

template <class Way>
double slots_rtt_ns(const Setup& setup, Sizes sizes) {
    const size_t request_slot = slot_size(sizes.request);
    Shared memory(request_slot + slot_size(sizes.reply));
    Slot& request = *reinterpret_cast<Slot*>(memory.bytes());
    Slot& reply = *reinterpret_cast<Slot*>(memory.bytes() + request_slot);
    std::vector<char> to_send(sizes.request + 1, 'q'), received(sizes.reply + 1);
    uint32_t turn = 0;
    auto serve = [&] {
        std::vector<char> in(sizes.request + 1), out(sizes.reply + 1, 'r');
        for (uint32_t seen = 0;;) {
            seen = Way::await_change(request, seen);
            if (seen == stop_turn) return;
            std::memcpy(in.data(), request.bytes, sizes.request);
            std::memcpy(reply.bytes, out.data(), sizes.reply);
            Way::signal(reply, seen);
        }
    };
    auto exchange = [&] {
        std::memcpy(request.bytes, to_send.data(), sizes.request);
        Way::signal(request, ++turn);
        Way::await_change(reply, turn - 1);
        std::memcpy(received.data(), reply.bytes, sizes.reply);
    };
    return median_rtt_ns(setup, serve, exchange, [&] { Way::signal(request, stop_turn); });
}

} // namespace

double cacheline_rtt_ns(const Setup& setup) {
    return slots_rtt_ns<Spin>(setup, {0, 0});
}
double slot_rtt_ns(const Setup& setup, Sizes sizes) {
    return slots_rtt_ns<Spin>(setup, sizes);
}
double futex_rtt_ns(const Setup& setup, Sizes sizes) {
    return slots_rtt_ns<Sleep>(setup, sizes);
}

} // namespace floors
