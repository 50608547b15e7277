#pragma once

#include "core/byte_stream.hpp"
#include "win32/handle.hpp"
#include "win32/interrupt.hpp"
#include "win32/local_pipe.hpp"

#include <atomic>
#include <mutex>

namespace ipc::win32 {

// A connected, overlapped named pipe. In message mode each write() is one message of the pipe, and reading does not care
// where messages end: frames say so themselves. A write that times out counts as begun, always: no more is known.
class PipeStream final : public ByteStream {
  public:
    PipeStream(Handle pipe, PipeMode mode) : pipe_(std::move(pipe)), mode_(mode) {}
    // Must succeed before anything else is called.
    Status open();

    Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) override;
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override;
    bool goes_on_writing() const override { return false; }
    void interrupt() override;
    bool interrupt_receiving(bool on) override;

  private:
    // Keeps the pipe open while a thread is inside: a pipe has no shutdown, its end comes with the last handle.
    class Inside {
      public:
        explicit Inside(PipeStream& stream) : stream_(stream), open_((stream.inside_.fetch_add(1) & closing) == 0) {}
        ~Inside() { stream_.leave(); }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        explicit operator bool() const { return open_; }

      private:
        PipeStream& stream_;
        const bool open_;
    };

    void leave();
    Status write_message(Chunk head, Chunk body, const Deadline& deadline, size_t* written);
    Status write_all(const void* data, size_t length, const Deadline& deadline, size_t* written);
    Status write_fragment(const void* data, size_t length, const Deadline& deadline, size_t* count);
    Status finish(OVERLAPPED* operation, DWORD error, HANDLE recall, const Deadline& deadline, DWORD* failure,
                  size_t* count);

    static constexpr uint32_t closing = 0x8000'0000;

    Handle pipe_;
    const PipeMode mode_;
    Interrupt interrupt_;
    Handle recall_event_;             // set while nobody is to wait in read
    Handle read_event_;               // the reading thread's
    Handle write_event_;              // the writing thread's
    std::atomic<uint32_t> inside_{0}; // threads in read or write, and `closing`
    std::mutex close_mutex_;
};

} // namespace ipc::win32
