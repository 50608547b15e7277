#pragma once

#include "ping_pong.hpp"

#include <atomic>
#include <cstring>
#include <vector>

// The ping-pong through one slot each way, whatever the way of waiting.
namespace floors {

// One way of a ping-pong: the number of the message, then its bytes from the same cache line on.
struct Slot {
    std::atomic<uint32_t> turn;
    uint32_t event; // a way of waiting that needs one keeps its handle here
    char bytes[56];
};
static_assert(sizeof(Slot) == 64);

inline size_t slot_size(size_t bytes) {
    return (sizeof(Slot) + bytes + 4095) & ~size_t{4095};
}

inline constexpr uint32_t stop_turn = UINT32_MAX;

// `Way` has open and close for what it needs beside the slot, signal, and await_change, which returns the turn reached.
template <class Way>
double slots_rtt_ns(const Setup& setup, Sizes sizes) {
    const size_t request_slot = slot_size(sizes.request);
    Shared memory(request_slot + slot_size(sizes.reply));
    Slot& request = *reinterpret_cast<Slot*>(memory.bytes());
    Slot& reply = *reinterpret_cast<Slot*>(memory.bytes() + request_slot);
    std::vector<char> to_send(sizes.request + 1, 'q'), received(sizes.reply + 1);
    Way::open(request), Way::open(reply);
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
    const double median = median_rtt_ns(setup, serve, exchange, [&] { Way::signal(request, stop_turn); });
    Way::close(request), Way::close(reply);
    return median;
}

} // namespace floors
