#pragma once

#include "core/byte_stream.hpp"
#include "core/frame_channel.hpp"
#include "core/growing_buffer.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace ipc {

// Frames on a byte stream, docs/wire-formats.md.
//
// A message of up to a few kilobytes costs one system call on each side: it leaves in one fragment with its header, and
// arrives in a receive buffer that may take many at once. What is longer than that buffer is read to where it belongs.
class FrameStream final : public FrameChannel {
  public:
    // `address` names the connection in error messages. Messages over `limit` bytes are refused.
    FrameStream(std::unique_ptr<ByteStream> stream, size_t limit, std::string address);
    ~FrameStream() override;

    Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) override;
    Status send_some(FrameKind kind, uint32_t id, const void* data, size_t length, size_t* done,
                     const Deadline& deadline) override;
    bool goes_on_sending() const override { return stream_->goes_on_writing(); }
    Status reserve(size_t length, void** data, const Deadline& deadline) override;
    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) override;
    Status next(FrameInfo* info, const Deadline& deadline) override;
    Status take(void* buffer, const Deadline& deadline) override;
    Status view(const void** data, const Deadline& deadline) override;
    Status release() override;
    void close() override;
    Status ended_here() const override;
    Status wait_handle(intptr_t* handle) const override;
    Status interrupt_receiving(bool on) override {
        return stream_->interrupt_receiving(on) ? IPC_OK : FrameChannel::interrupt_receiving(on);
    }

  private:
    Status check(const FirstFailure& failure) const;
    Status closed_here() const;

    Status write(Chunk head, Chunk body, const Deadline& deadline);
    Status write_failed(Status status, size_t written, const Deadline& deadline);
    void hang_up() override { stream_->interrupt(); }

    Status read(void* to, size_t capacity, ByteStream::Fill fill, const Deadline& deadline, size_t* count);
    Status stream_ended(const Deadline& deadline);
    Status skip_dropped(const Deadline& deadline);
    Status fill(size_t wanted, size_t most, const Deadline& deadline);
    Status parse_header();
    Status not_a_frame();
    bool is_large() const;
    Status gather(const Deadline& deadline);
    size_t move_buffered(std::byte* to, size_t most);
    void consume();
    Status no_memory(size_t length);

    const std::unique_ptr<ByteStream> stream_;
    const std::string address_;
    std::atomic<bool> closed_{false};
    std::atomic_flag peer_gone_told_;

    // --- sender's half
    GrowingBuffer room_; // a header's room, then the reserved payload

    // --- receiver's half. Bytes [begin_, end_) of buffer_ have arrived and are not yet consumed.
    std::unique_ptr<std::byte[]> buffer_;
    size_t begin_ = 0;
    size_t end_ = 0;
    bool has_frame_ = false; // frame_ is parsed; its payload starts in large_ (gathered_ bytes), then goes on at begin_
    FrameInfo frame_{};      // or the last one, whose length hints at the next one's
    GrowingBuffer large_;    // the payload, as far as it has arrived, of a frame too long for buffer_
    size_t gathered_ = 0;
    size_t dropped_ = 0; // payload bytes of released frames that are still to arrive
};

} // namespace ipc
