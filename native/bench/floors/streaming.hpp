#pragma once

#include "owning.hpp"
#include "ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

// The ping-pong whose messages go piece by piece through a window each way: one side copies out while the other still copies in.
namespace floors {

// How a message is cut up, and how many of its pieces may be on their way at once.
struct Pieces {
    size_t bytes;
    size_t places;
};

// Whether a window is ever the quicker way.
inline bool worth_streaming(Sizes sizes) {
    return std::max(sizes.request, sizes.reply) >= size_t{2} << 10;
}

// Up to some pages hardly more than one: what overlapping saves is less than another line's journey costs. From there on an eighth of the
// message, within what is worth such a journey and what leaves something to overlap (docs/experiments.md, "The slot floor of large messages").
inline Pieces in_pieces(Sizes sizes) {
    constexpr size_t short_message = size_t{3} << 12, short_piece = size_t{1} << 13;
    constexpr size_t least_bytes = size_t{1} << 12, most_bytes = size_t{1} << 14, window = size_t{1} << 18;
    const size_t longer = std::max(sizes.request, sizes.reply);
    const size_t piece =
        longer <= short_message ? short_piece : std::clamp(std::bit_ceil(longer / 8), least_bytes, most_bytes);
    return {piece, window / piece};
}

inline constexpr uint32_t stopped = UINT32_MAX;

// How many pieces of a way have been written, and how many of them read, each on a cache line of its own.
struct Progress {
    alignas(64) std::atomic<uint32_t> written;
    alignas(64) std::atomic<uint32_t> read;
};

// One way: a window of places, each as large as a piece, which messages go through one after the other. `Way` says how a side
// waits for a message to begin: await_change(word, last) returns the word once it is another, signal(word) ends that. The pieces that
// follow come so soon that both sides spin for them.
template <class Way>
class Window {
  public:
    static size_t size(Pieces pieces) { return sizeof(Progress) + pieces.bytes * pieces.places; }

    Window(char* begin, Pieces pieces)
        : progress_(*reinterpret_cast<Progress*>(begin)), places_(begin + sizeof(Progress)), pieces_(pieces) {}

    void write(const char* from, size_t length) {
        each_piece(length, [&](size_t at, size_t bytes) {
            while (position_ - progress_.read.load(std::memory_order_acquire) == pieces_.places) relax();
            std::memcpy(place(), from + at, bytes);
            progress_.written.store(++position_, std::memory_order_release);
            if (at == 0) Way::signal(progress_.written);
        });
    }
    // False if the other side has stopped.
    bool read(char* to, size_t length) {
        bool going_on = true;
        each_piece(length, [&](size_t at, size_t bytes) {
            const uint32_t written = at == 0 ? Way::await_change(progress_.written, position_)
                                             : spin_for_change(progress_.written, position_);
            if (written == stopped) going_on = false;
            if (!going_on) return;
            std::memcpy(to + at, place(), bytes);
            own(place(), bytes);
            progress_.read.store(++position_, std::memory_order_release);
        });
        return going_on;
    }
    void stop() {
        progress_.written.store(stopped, std::memory_order_release);
        Way::signal(progress_.written);
    }

  private:
    template <class Act>
    void each_piece(size_t length, Act act) {
        size_t at = 0;
        do {
            const size_t bytes = std::min(pieces_.bytes, length - at);
            act(at, bytes);
            at += bytes;
        } while (at < length);
    }
    char* place() const { return places_ + pieces_.bytes * (position_ % pieces_.places); }

    Progress& progress_;
    char* places_;
    Pieces pieces_;
    uint32_t position_ = 0; // of this process: it only writes or only reads
};

template <class Way>
double streamed_rtt_ns(const Setup& setup, Sizes sizes, Pieces pieces) {
    Shared memory(2 * Window<Way>::size(pieces));
    Window<Way> requests(memory.bytes(), pieces), replies(memory.bytes() + Window<Way>::size(pieces), pieces);
    std::vector<char> to_send(sizes.request + 1, 'q'), received(sizes.reply + 1);
    // Copies: a window knows how far its own side has come, and on Windows the server is a thread of this process.
    auto serve = [sizes, requests, replies]() mutable {
        std::vector<char> in(sizes.request + 1), out(sizes.reply + 1, 'r');
        while (requests.read(in.data(), sizes.request)) replies.write(out.data(), sizes.reply);
    };
    auto exchange = [&] {
        requests.write(to_send.data(), sizes.request);
        replies.read(received.data(), sizes.reply);
    };
    return median_rtt_ns(setup, serve, exchange, [&] { requests.stop(); });
}

} // namespace floors
