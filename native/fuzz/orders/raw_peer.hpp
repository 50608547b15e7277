#pragma once

#include "ipc/ipc.h"
#include "session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace fuzz {

// Of the layouts of shared memory, as docs/wire-formats.md has them: 1 `shm`, 2 `shm-event`.
constexpr uint32_t version_of(uint32_t layout) {
    return layout == 1 ? 3 : 1;
}

// A peer that is not the library: it knows docs/wire-formats.md and nothing else, and so can stop at any step of a frame, leave
// out what it owes, or die without a word. For one thread.
class RawPeer {
  public:
    virtual ~RawPeer() = default;

    // Before anything else: the books, and which side it is.
    void attach(Session& session, unsigned side);
    // Begins a frame, of which nothing goes out yet. Only when the last one is whole.
    void begin(Kind kind, uint32_t request, size_t length);
    // Puts out some more of it, of which the peer learns if `wake`; returns whether it is whole, or there was none.
    bool put(size_t portion, bool wake);
    bool whole() const { return !under_way_; }

    // Takes everything the library has put out, checking it.
    virtual void take_all() = 0;
    // Says that it closes, and closes.
    virtual void close() = 0;
    // Closes without having said so, as the system does for a killed process.
    virtual void die() = 0;
    // Writes `value` over `bytes` bytes of what both share, anywhere or, by `where`, at a place that matters.
    virtual void scribble(uint64_t where, uint64_t value, size_t bytes) = 0;

  protected:
    // Some more bytes from done_ on; done_ moves on. False when there is no room.
    virtual void put_some(size_t portion, bool wake) = 0;
    void got(Kind kind, const void* bytes, size_t length);

    Session* session_ = nullptr;
    unsigned side_ = 0;
    Frame frame_;
    uint32_t id_ = 0;
    std::vector<std::byte> payload_;
    size_t done_ = 0;
    bool under_way_ = false;
    bool all_out_ = false;
};

// A connection of the library to a raw peer. `library_side` 0: the library connects to it; 1: the library accepts it.
struct RawConnection {
    ipc_channel* library = nullptr;
    std::unique_ptr<RawPeer> peer;
};
// transport: "unix", "shm" or "shm-event".
RawConnection connect_raw(const std::string& transport, const std::string& options, size_t limit,
                          unsigned library_side);

// ---- what they are made of

// Where the library has, or looks for, the socket of this transport and name.
std::string socket_path(const std::string& transport, const std::string& name);
int listen_at(const std::string& path);
// Removes the name when the process ends in order.
void remove_at_exit(const std::string& path);
int connect_to(const std::string& path);
std::unique_ptr<RawPeer> make_stream_peer(int socket);
// `memory`: mapped, of so many bytes, and owned from now on.
std::unique_ptr<RawPeer> make_ring_peer(int socket, std::byte* memory, size_t bytes, unsigned side);
std::unique_ptr<RawPeer> make_block_peer(int socket, std::byte* memory, size_t bytes, unsigned side);
// Sends bytes with descriptors, and the other way round; returns how many bytes.
long send_with(int socket, const void* bytes, size_t length, const int* descriptors, size_t count);
long receive_with(int socket, void* bytes, size_t length, int* descriptor);
// What a server hands over: sealed memory with its header in place.
int make_handover_memory(uint32_t layout, uint32_t slots, uint64_t data_bytes, size_t* bytes);

} // namespace fuzz
