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
    explicit SocketStream(Descriptor socket) : socket_(std::move(socket)) {}

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
    int wait_flags(const Deadline& deadline, int option, int* set_ms);
    ssize_t write_once(Chunk head, Chunk body, size_t skip, int flags);

    Descriptor socket_;
    int receive_limit_ms_ = 0; // what SO_RCVTIMEO is set to; 0: none. Only the reading thread's
    int send_limit_ms_ = 0;    // likewise SO_SNDTIMEO and the writing thread
};

} // namespace ipc::posix
