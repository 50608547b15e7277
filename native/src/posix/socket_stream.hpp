#pragma once

#include "core/byte_stream.hpp"
#include "posix/descriptor.hpp"

#include <cstdint>
#include <sys/types.h>
#include <utility>

namespace ipc::posix {

// A connected, blocking stream socket of any family.
//
// Without an end to wait for, a call blocks in recv or send itself: nothing is faster. A time-out is the socket's own
// (SO_RCVTIMEO, SO_SNDTIMEO), set anew only when it differs from the last one.
class SocketStream : public ByteStream {
  public:
    // longest_send_ms: how long a call that sends blocks before it looks if the peer has closed; 0: without end. Over TCP a peer that closes
    // and keeps its socket only says that it sends no more, which wakes nobody who waits for room.
    explicit SocketStream(Descriptor socket, int longest_send_ms = 0)
        : socket_(std::move(socket)), longest_send_ms_(longest_send_ms) {}

    Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) override;
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override;
    void interrupt() override;
    bool wait_handle(intptr_t* handle) const override {
        *handle = socket_.get();
        return true;
    }

  protected:
    int socket() const { return socket_.get(); }

  private:
    int wait_flags(const Deadline& deadline, int option, int longest_ms, int* set_ms);
    bool peer_has_closed() const;
    ssize_t write_once(Chunk head, Chunk body, size_t skip, int flags);

    Descriptor socket_;
    const int longest_send_ms_;
    int receive_limit_ms_ = 0; // what SO_RCVTIMEO is set to; 0: none. Only the reading thread's
    int send_limit_ms_ = 0;    // likewise SO_SNDTIMEO and the writing thread
};

} // namespace ipc::posix
