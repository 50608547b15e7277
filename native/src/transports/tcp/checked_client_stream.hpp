#pragma once

#include "core/byte_stream.hpp"
#include "transports/tcp/loopback_owner.hpp"

namespace ipc {

// A client whose server will look for its owner. The system forgets the owner of a socket that is closed, so one that
// has only sent waits with that until the server has looked; an answer tells the same for nothing.
template <class SocketStream>
class CheckedClientStream final : public SocketStream {
  public:
    using SocketStream::SocketStream;
    ~CheckedClientStream() override {
        if (sent_ && !answered_) wait_until_admitted(this->socket(), 1000);
    }
    Status read(void* buffer, size_t capacity, ByteStream::Fill fill, const Deadline& deadline,
                size_t* count) override {
        const Status status = SocketStream::read(buffer, capacity, fill, deadline, count);
        if (*count != 0) answered_ = true;
        return status;
    }
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override {
        sent_ = true;
        return SocketStream::write(head, body, deadline, written);
    }

  private:
    bool sent_ = false;     // the writing thread's
    bool answered_ = false; // the reading thread's
};

} // namespace ipc
