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

} // namespace

double cacheline_rtt_ns(const Setup& setup) {
    return slots_rtt_ns<Spin>(setup, {0, 0});
}
double slot_rtt_ns(const Setup& setup, Sizes sizes) {
    return slots_rtt_ns<Spin>(setup, sizes);
}

} // namespace floors
