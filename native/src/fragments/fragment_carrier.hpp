#pragma once

#include "core/byte_stream.hpp"
#include "core/status.hpp"

#include <cstddef>
#include <cstdint>

namespace ipc::fragments {

// What a foreign library gives a channel: fragments of up to fragment_bytes() each way, in order, none lost. One thread sends and
// one receives at a time. A fragment has its peer's word for nothing but its length, which the carrier has checked.
class FragmentCarrier {
  public:
    FragmentCarrier() = default;
    virtual ~FragmentCarrier() = default;
    FragmentCarrier(const FragmentCarrier&) = delete;
    FragmentCarrier& operator=(const FragmentCarrier&) = delete;

    virtual size_t fragment_bytes() const = 0;

    // Sends head and body as one fragment. IPC_TIMED_OUT, without an error message, when there was no room for `patience_ns` (0: does
    // not wait); nothing is sent then. IPC_PEER_CLOSED, with an error message, when the library itself shows that the peer died.
    virtual Status send(Chunk head, Chunk body, int64_t patience_ns) = 0;

    // The next fragment, valid until the next receive. `wanted`, if not null, has room for fragment_bytes(): a carrier that copies
    // anyway copies there. The statuses are send's.
    virtual Status receive(std::byte* wanted, const std::byte** fragment, size_t* length, int64_t patience_ns) = 0;
};

} // namespace ipc::fragments
