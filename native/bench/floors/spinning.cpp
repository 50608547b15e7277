#include "slots.hpp"
#include "streaming.hpp"

namespace floors {
namespace {

struct Spin {
    static void open(Slot&) {}
    static void close(Slot&) {}
    static void signal(Slot& slot, uint32_t turn) { slot.turn.store(turn, std::memory_order_release); }
    static uint32_t await_change(Slot& slot, uint32_t last) { return spin_for_change(slot.turn, last); }
};

// Slots that together stay in a second-level cache, the beginning of the next one asked for.
Layout in_turns(Sizes sizes) {
    constexpr size_t most_bytes = size_t{1} << 16;
    constexpr size_t asked_ahead = 256;
    const size_t fit = most_bytes / Slots::stride(std::max(sizes.request, sizes.reply));
    return {static_cast<uint32_t>(std::max<size_t>(fit, 2)), asked_ahead};
}

// The same for messages in pieces.
struct SpinForWord {
    static void signal(std::atomic<uint32_t>&) {}
    static uint32_t await_change(const std::atomic<uint32_t>& word, uint32_t last) {
        return spin_for_change(word, last);
    }
};

} // namespace

double cacheline_rtt_ns(const Setup& setup) {
    return slots_rtt_ns<Spin>(setup, {0, 0});
}

// No way is the least everywhere. Where the processors share no cache, a message of a line or two costs a third less if
// the slots are used in turns: a side then owns the lines of its next message before it has one (64 bytes: 410 ns against
// 630). One slot is less where a line takes 100 ns anyway. From some kilobytes on a window is less: its places are used in
// turns, and of a message in several pieces one side copies out while the other still copies in.
double slot_rtt_ns(const Setup& setup, Sizes sizes) {
    const bool streams = worth_streaming(sizes);
    const double ways = streams ? 3 : 2;
    const Setup share{setup.server_cpu, setup.client_cpu, setup.warmup_seconds / ways, setup.seconds / ways};
    const double whole = std::min(slots_rtt_ns<Spin>(share, sizes), slots_rtt_ns<Spin>(share, sizes, in_turns(sizes)));
    return streams ? std::min(whole, streamed_rtt_ns<SpinForWord>(share, sizes, in_pieces(sizes))) : whole;
}

} // namespace floors
