#include "slots.hpp"

namespace floors {
namespace {

struct Spin {
    static void open(Slot&) {}
    static void close(Slot&) {}
    static void signal(Slot& slot, uint32_t turn) { slot.turn.store(turn, std::memory_order_release); }
    static uint32_t await_change(Slot& slot, uint32_t last) {
        uint32_t turn;
        while ((turn = slot.turn.load(std::memory_order_acquire)) == last) relax();
        return turn;
    }
};

// Slots that together stay in a second-level cache, the beginning of the next one asked for.
Layout in_turns(Sizes sizes) {
    constexpr size_t most_bytes = size_t{1} << 16;
    constexpr size_t asked_ahead = 256;
    const size_t fit = most_bytes / Slots::stride(std::max(sizes.request, sizes.reply));
    return {static_cast<uint32_t>(std::max<size_t>(fit, 2)), asked_ahead};
}

} // namespace

double cacheline_rtt_ns(const Setup& setup) {
    return slots_rtt_ns<Spin>(setup, {0, 0});
}

// Neither of two ways is less everywhere. Where the processors share no cache, a message of a line or two costs a third
// less if the slots are used in turns: a side then owns the lines of its next message before it has one (64 bytes: 410
// ns against 630). One slot is less where a line takes 100 ns anyway, and for messages that fill a cache: all of it stays
// in the nearest one.
double slot_rtt_ns(const Setup& setup, Sizes sizes) {
    const Setup half{setup.server_cpu, setup.client_cpu, setup.warmup_seconds / 2, setup.seconds / 2};
    return std::min(slots_rtt_ns<Spin>(half, sizes), slots_rtt_ns<Spin>(half, sizes, in_turns(sizes)));
}

} // namespace floors
