#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"

#include <cstddef>
#include <cstdint>

namespace ipc {

struct Chunk {
    const void* data;
    size_t length; // in bytes
};

// A connected stream of bytes both ways, as sockets, named pipes and pairs of FIFOs give; FrameStream makes frames of
// it. One thread reads and one writes at a time; interrupt() comes from any thread. IPC_TIMED_OUT, IPC_PEER_CLOSED and
// IPC_CLOSED come without an error message (FrameStream knows what was under way), any other failure with one.
class ByteStream {
  public:
    enum class Fill { some, all };

    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    // Waits for at least one byte and reads at most `capacity` (not 0). *count is 0 at the end of the stream, which
    // also a reset connection is. Fill::all is a hint that exactly `capacity` bytes are still to come.
    virtual Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) = 0;

    // Writes all of head, then all of body, in as few system calls as it can. *written tells how much has left, also
    // after a failure, and beforehand what had left already. IPC_PEER_CLOSED: nobody reads any more.
    virtual Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) = 0;

    // Whether *written is exact after a time-out, so that writing can go on.
    virtual bool goes_on_writing() const { return true; }

    // Ends the stream both ways: the peer reads what was written and then the end; a blocked read gives the end or
    // IPC_CLOSED, a blocked write any failure, within 100 ms. May come more than once.
    virtual void interrupt() = 0;

    // Called when the peer has ended the stream: a client may find its server dead and clear its name away, within the
    // deadline. Never fails.
    virtual void peer_gone(const Deadline& deadline) { (void)deadline; }

    // What becomes readable when read() may have something: a descriptor, on Windows a SOCKET. False if there is none.
    virtual bool wait_handle(intptr_t* handle) const {
        (void)handle;
        return false;
    }

    // From any thread: until it is turned off again, read() does not wait, and whoever waits in it now is called back with IPC_TIMED_OUT. False: this
    // stream cannot do that.
    virtual bool interrupt_receiving(bool on) {
        (void)on;
        return false;
    }
};

} // namespace ipc
