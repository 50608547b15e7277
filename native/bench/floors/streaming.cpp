#include "streaming.hpp"

#include "ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace floors {
namespace {

constexpr uint64_t stopped = UINT64_MAX;

// How many pieces of a way have been written, and how many of them read, each on a cache line of its own.
struct Progress {
    alignas(64) std::atomic<uint64_t> written;
    alignas(64) std::atomic<uint64_t> read;
};

// One way: a window of places, each as large as a piece, which messages go through one after the other.
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
        });
    }
    // False if the other side has stopped.
    bool read(char* to, size_t length) {
        bool going_on = true;
        each_piece(length, [&](size_t at, size_t bytes) {
            uint64_t written;
            while ((written = progress_.written.load(std::memory_order_acquire)) == position_) relax();
            if (written == stopped) going_on = false;
            if (!going_on) return;
            std::memcpy(to + at, place(), bytes);
            own(place(), bytes);
            progress_.read.store(++position_, std::memory_order_release);
        });
        return going_on;
    }
    void stop() { progress_.written.store(stopped, std::memory_order_release); }

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
    // A line that the reader has only read is slow to write for the writer a lap later; one that it has written is not (docs/performance.md,
    // "Whose a line is").
    static void own(char* begin, size_t length) {
        for (size_t at = 0; at < length; at += 64)
            reinterpret_cast<std::atomic<uint64_t>*>(begin + at)->store(0, std::memory_order_relaxed);
    }
    char* place() const { return places_ + pieces_.bytes * (position_ % pieces_.places); }

    Progress& progress_;
    char* places_;
    Pieces pieces_;
    uint64_t position_ = 0; // of this process: it only writes or only reads
};

} // namespace

double streamed_rtt_ns(const Setup& setup, Sizes sizes, Pieces pieces) {
    Shared memory(2 * Window::size(pieces));
    Window requests(memory.bytes(), pieces), replies(memory.bytes() + Window::size(pieces), pieces);
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
