#pragma once

#include "core/address.hpp"
#include "core/byte_stream.hpp"
#include "core/frame_channel.hpp"
#include "posix/descriptor.hpp"
#include "posix/interrupt.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <sys/uio.h>

namespace ipc {

// One FIFO for reading and one for writing, both non-blocking: there is no shutdown that would interrupt a blocked read
// of a FIFO, so every wait is a poll that also watches for the interruption.
class FifoStream final : public ByteStream {
  public:
    // A client gives its server's handshake FIFO, to clear it away should the server die; a server gives "".
    FifoStream(posix::Descriptor reading, posix::Descriptor writing, std::string server_path)
        : reading_(std::move(reading)), writing_(std::move(writing)), server_path_(std::move(server_path)) {}
    ~FifoStream() override;
    Status open() { return interrupt_.open(); }

    Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) override;
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override;
    void interrupt() override;
    void peer_gone(const Deadline& deadline) override;
    bool wait_handle(intptr_t* handle) const override {
        *handle = reading_.get();
        return true;
    }

    // For the handshake, before anybody else has the stream.
    int reading() const { return reading_.get(); }
    int writing() const { return writing_.get(); }

  private:
    Status wait(const posix::Descriptor& descriptor, short events, const Deadline& deadline) const;

    // Held for the whole of a read or write: the peer finds the end only when the descriptors are closed, and they must
    // not be closed under a call in progress.
    std::mutex read_mutex_;
    std::mutex write_mutex_;
    posix::Descriptor reading_;
    posix::Descriptor writing_;
    posix::Interrupt interrupt_;
    bool read_first_ = false; // the last read left bytes behind, so the next one need not wait
    const std::string server_path_;
    std::atomic<bool> name_is_left_ = false; // the peer has gone, and the server's name has not
};

// Owns the stream, which is open.
FrameChannel* make_fifo_channel(const Address& address, std::unique_ptr<FifoStream> stream);

// Writes bytes so few that they go as a whole or not at all; false with errno.
bool write_fifo(int descriptor, const char* bytes, size_t length);
// The one byte of the handshake. Awaited: it is not there, and neither is the writer's end. A poll may say that the writer has left in the
// very moment in which it opens the FIFO, because Linux counts it before it is there; reading, which takes the FIFO's lock, knows better.
enum class Greeting { here, awaited, none };
Greeting read_fifo_greeting(int descriptor);

// writev to a FIFO without the signal that a FIFO without reader raises: errno EPIPE tells instead.
ssize_t write_without_signal(int descriptor, const iovec* pieces, int count);

} // namespace ipc
