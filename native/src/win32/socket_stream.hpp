#pragma once

#include "core/byte_stream.hpp"
#include "win32/interrupt.hpp"
#include "win32/socket.hpp" // before windows.h

#include <utility>

namespace ipc::win32 {

// A connected stream socket. Reading is overlapped; writing does not wait in the system, so that it is known what has left,
// but for the event that tells of room.
class SocketStream : public ByteStream {
  public:
    explicit SocketStream(Socket socket) : socket_(std::move(socket)) {}
    // Must succeed before anything else is called.
    Status open();

    Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) override;
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override;
    void interrupt() override;
    bool interrupt_receiving(bool on) override;
    bool wait_handle(intptr_t* handle) const override {
        *handle = static_cast<intptr_t>(socket_.get());
        return true;
    }

  protected:
    SOCKET socket() const { return socket_.get(); }

  private:
    Socket socket_;
    Interrupt interrupt_;
    Handle recall_event_; // set while nobody is to wait in read
    Handle read_event_;   // the reading thread's
    Handle room_event_;   // the writing thread's
};

} // namespace ipc::win32
