#pragma once

#include "core/byte_stream.hpp"
#include "core/status.hpp"

#include <cstddef>
#include <cstdint>

namespace ipc::pieces {

// What a foreign library gives a channel: pieces of up to piece_bytes() each way, in order, none lost. One thread sends and
// one receives at a time. A piece has its peer's word for nothing but its length, which the link has checked.
class PieceLink {
  public:
    PieceLink() = default;
    virtual ~PieceLink() = default;
    PieceLink(const PieceLink&) = delete;
    PieceLink& operator=(const PieceLink&) = delete;

    virtual size_t piece_bytes() const = 0;

    // Sends head and body as one piece. IPC_TIMED_OUT, without a sentence, when there was no room for `patience_ns` (0: does
    // not wait); nothing is sent then. IPC_PEER_CLOSED, with a sentence, when the library itself shows that the peer died.
    virtual Status send(Chunk head, Chunk body, int64_t patience_ns) = 0;

    // The next piece, valid until the next receive. `wanted`, if not null, has room for piece_bytes(): a link that copies
    // anyway copies there. The statuses are send's.
    virtual Status receive(std::byte* wanted, const std::byte** piece, size_t* length, int64_t patience_ns) = 0;
};

} // namespace ipc::pieces
