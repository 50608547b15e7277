#include "slots.hpp"
#include "streaming.hpp"

#include <bit>

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

// An eighth of the message, within what is worth a line of its own and what leaves something to overlap; and a window so
// large that a place is used again only after its bytes have left the nearest cache. Two threads of one core take three
// times as long through a window of 128 kB (docs/performance.md).
Pieces in_pieces(Sizes sizes) {
    constexpr size_t fewest_bytes = size_t{1} << 12, most_bytes = size_t{1} << 15, window = size_t{1} << 21;
    const size_t piece = std::clamp(std::bit_ceil(std::max(sizes.request, sizes.reply) / 8), fewest_bytes, most_bytes);
    return {piece, window / piece};
}

} // namespace

double cacheline_rtt_ns(const Setup& setup) {
    return slots_rtt_ns<Spin>(setup, {0, 0});
}

// No way is the least everywhere. Where the processors share no cache, a message of a line or two costs a third less if
// the slots are used in turns: a side then owns the lines of its next message before it has one (64 bytes: 410 ns against
// 630). One slot is less where a line takes 100 ns anyway. A message of some pages is through sooner in pieces, since one
// side copies out while the other still copies in.
double slot_rtt_ns(const Setup& setup, Sizes sizes) {
    const bool streams = std::max(sizes.request, sizes.reply) >= size_t{8} << 10;
    const double ways = streams ? 3 : 2;
    const Setup share{setup.server_cpu, setup.client_cpu, setup.warmup_seconds / ways, setup.seconds / ways};
    const double whole = std::min(slots_rtt_ns<Spin>(share, sizes), slots_rtt_ns<Spin>(share, sizes, in_turns(sizes)));
    return streams ? std::min(whole, streamed_rtt_ns(share, sizes, in_pieces(sizes))) : whole;
}

} // namespace floors
