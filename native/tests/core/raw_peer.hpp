#pragma once

#include "core/byte_stream.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace ipc::test {

// The streams that frames are sent over.
enum class Kind { socket, fifo, pipe, message_pipe };

// Those that this system has.
std::vector<Kind> stream_kinds();

// Whether a stream without room for all of a small message takes nothing of it. Windows' sockets take what there is room for,
// and its pipes do not tell what the peer had read of a write that was taken back.
#if defined(_WIN32)
constexpr bool takes_small_messages_whole = false;
#else
constexpr bool takes_small_messages_whole = true;
#endif

// The other end of a stream: raw bytes.
class RawPeer {
  public:
    virtual ~RawPeer() = default;
    // Some of it, at least one byte, waiting as long as it takes; 0 when that cannot be.
    virtual size_t write(const std::byte* data, size_t length) = 0;
    virtual size_t read(std::byte* buffer, size_t capacity) = 0;
    virtual void hang_up() = 0;
};

// A connected stream and its other end; both stay null when that fails.
void make_stream(Kind kind, std::unique_ptr<ByteStream>* stream, std::unique_ptr<RawPeer>* peer);

// Bytes this process has allocated.
size_t bytes_in_use();

} // namespace ipc::test
