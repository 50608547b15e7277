#pragma once

#include "owning.hpp"
#include "ping_pong.hpp"
#include "shared_memory/fetching.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

// The ping-pong through one slot each way, or some in turns, whatever the way of waiting.
namespace floors {

// One way of a ping-pong: the number of the message, then its bytes from the same cache line on.
struct Slot {
    std::atomic<uint32_t> turn;
    uint32_t event; // a way of waiting that needs one keeps its handle here
    char bytes[56];
};
static_assert(sizeof(Slot) == 64);

inline constexpr uint32_t stop_turn = UINT32_MAX;

// How many slots there are each way, used in turns, and how many bytes of a side's next one it asks for while the other
// side works. With one slot nothing can be asked for: until the answer is there the other side may be reading it.
struct Layout {
    uint32_t slots = 1;
    size_t asked_ahead = 0;
};

// The slots of one way, each on cache lines of its own.
class Slots {
  public:
    static size_t stride(size_t bytes) {
        return (offsetof(Slot, bytes) + bytes + sizeof(Slot) - 1) & ~(sizeof(Slot) - 1);
    }
    static size_t size(size_t bytes, Layout layout) { return (stride(bytes) * layout.slots + 4095) & ~size_t{4095}; }

    Slots(char* begin, size_t bytes, Layout layout) : begin_(begin), bytes_(bytes), layout_(layout) {}

    Slot& of(uint32_t turn) const { return *reinterpret_cast<Slot*>(begin_ + stride(bytes_) * (turn % layout_.slots)); }
    // What the slot's number is until this turn is reached.
    uint32_t before(uint32_t turn) const { return turn > layout_.slots ? turn - layout_.slots : 0; }
    void ask_for(uint32_t turn) const {
        const size_t bytes = std::min(layout_.asked_ahead, offsetof(Slot, bytes) + bytes_);
        ipc::shared_memory::fetch_to_write(reinterpret_cast<std::byte*>(&of(turn)), bytes);
    }
    template <class Act>
    void each(Act act) const {
        for (uint32_t turn = 0; turn < layout_.slots; ++turn) act(of(turn));
    }

  private:
    char* begin_;
    size_t bytes_;
    Layout layout_;
};

// `Way` has open and close for what it needs beside the slot, signal, and await_change, which returns the turn reached.
template <class Way>
double slots_rtt_ns(const Setup& setup, Sizes sizes, Layout layout = {}) {
    const size_t requests_size = Slots::size(sizes.request, layout);
    Shared memory(requests_size + Slots::size(sizes.reply, layout));
    const Slots requests(memory.bytes(), sizes.request, layout);
    const Slots replies(memory.bytes() + requests_size, sizes.reply, layout);
    std::vector<char> to_send(sizes.request + 1, 'q'), received(sizes.reply + 1);
    requests.each(Way::open), replies.each(Way::open);
    auto serve = [&] {
        std::vector<char> in(sizes.request + 1), out(sizes.reply + 1, 'r');
        for (uint32_t turn = 1;; ++turn) {
            Slot& request = requests.of(turn);
            if (Way::await_change(request, requests.before(turn)) == stop_turn) return;
            std::memcpy(in.data(), request.bytes, sizes.request);
            own(request.bytes, sizes.request);
            Slot& reply = replies.of(turn);
            std::memcpy(reply.bytes, out.data(), sizes.reply);
            Way::signal(reply, turn);
            replies.ask_for(turn + 1);
        }
    };
    uint32_t turn = 0;
    auto exchange = [&] {
        Slot& request = requests.of(++turn);
        std::memcpy(request.bytes, to_send.data(), sizes.request);
        Way::signal(request, turn);
        requests.ask_for(turn + 1);
        Slot& reply = replies.of(turn);
        Way::await_change(reply, replies.before(turn));
        std::memcpy(received.data(), reply.bytes, sizes.reply);
        own(reply.bytes, sizes.reply);
    };
    const double median = median_rtt_ns(setup, serve, exchange, [&] { Way::signal(requests.of(turn + 1), stop_turn); });
    requests.each(Way::close), replies.each(Way::close);
    return median;
}

} // namespace floors
