#include "core/frame_stream.hpp"

#include "core/frame_header.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ipc {
namespace {

constexpr size_t receive_buffer_size = 64 * 1024;
// Below this much room at the end of the receive buffer, what is left in it moves to the front.
constexpr size_t least_room = 16 * 1024;
// Copying a small payload behind its header is cheaper than passing two fragments to the kernel.
constexpr size_t small_payload = 2048;
// A large payload's memory starts with this much and then doubles as bytes arrive, whatever length the peer claims.
constexpr size_t first_gather = 256 * 1024;
// After a large payload another is likely: only so much is read with its header, since what lands in the receive buffer
// is copied once more.
constexpr size_t read_before_large = 4 * 1024;

} // namespace

FrameStream::FrameStream(std::unique_ptr<ByteStream> stream, size_t limit, std::string address)
    : FrameChannel(limit), stream_(std::move(stream)), address_(std::move(address)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(receive_buffer_size)) {}

FrameStream::~FrameStream() {
    FrameStream::close();
}

void FrameStream::close() {
    if (!closed_.exchange(true)) stream_->interrupt();
}

Status FrameStream::closed_here() const {
    return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
}

Status FrameStream::ended_here() const {
    return closed_ ? closed_here() : IPC_OK;
}

Status FrameStream::check(const FirstFailure& failure) const {
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
        return closed_here();
    return failure.any() ? failure.repeat() : IPC_OK;
}

Status FrameStream::wait_handle(intptr_t* handle) const {
    *handle = -1;
    if (stream_->wait_handle(handle)) return IPC_OK;
    return fail(
        IPC_NOT_AVAILABLE,
        "a pipe of Windows has nothing that an event loop could wait on: receive from %s on a thread of its own",
        address_.c_str());
}

// ---- sender's half

Status FrameStream::send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) {
    if (length <= small_payload) {
        std::array<std::byte, frame_header_size + small_payload> fragment;
        write_frame_header(fragment.data(), kind, id, length);
        if (length != 0) std::memcpy(fragment.data() + frame_header_size, data, length);
        return write({fragment.data(), frame_header_size + length}, {nullptr, 0}, deadline);
    }
    std::array<std::byte, frame_header_size> header;
    write_frame_header(header.data(), kind, id, length);
    return write({header.data(), header.size()}, {data, length}, deadline);
}

Status FrameStream::send_some(FrameKind kind, uint32_t id, const void* data, size_t length, size_t* done,
                              const Deadline& deadline) {
    if (Status status = check(sending_failure_); status != IPC_OK) return status;
    const bool is_small = length <= small_payload;
    std::array<std::byte, frame_header_size + small_payload> fragment;
    write_frame_header(fragment.data(), kind, id, length);
    if (is_small && length != 0) std::memcpy(fragment.data() + frame_header_size, data, length);
    const Chunk head{fragment.data(), frame_header_size + (is_small ? length : 0)};
    const Chunk body{data, is_small ? 0 : length};
    const Status status = stream_->write(head, body, deadline, done);
    if (status == IPC_OK) return IPC_OK;
    if (status == IPC_TIMED_OUT && !closed_)
        return fail(IPC_TIMED_OUT, "%s took nothing, or not all, within the time-out", address_.c_str());
    return write_failed(status, *done, deadline);
}

Status FrameStream::reserve(size_t length, void** data, const Deadline&) {
    if (Status status = check(sending_failure_); status != IPC_OK) return status;
    if (!room_.grow(frame_header_size + length)) return no_memory(length);
    *data = room_.data() + frame_header_size;
    return IPC_OK;
}

Status FrameStream::commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) {
    write_frame_header(room_.data(), kind, id, length);
    return write({room_.data(), frame_header_size + length}, {nullptr, 0}, deadline);
}

Status FrameStream::write(Chunk head, Chunk body, const Deadline& deadline) {
    if (Status status = check(sending_failure_); status != IPC_OK) return status;
    size_t written = 0;
    const Status status = stream_->write(head, body, deadline, &written);
    return status == IPC_OK ? IPC_OK : write_failed(status, written, deadline);
}

Status FrameStream::write_failed(Status status, size_t written, const Deadline& deadline) {
    if (closed_) return closed_here();
    if (status == IPC_TIMED_OUT && written == 0)
        return fail(IPC_TIMED_OUT, "%s took nothing within the time-out; nothing was sent", address_.c_str());
    if (status == IPC_TIMED_OUT) {
        // The receiver's half perhaps waits for an answer that cannot come.
        return give_up(fail(status,
                            "the time-out passed half-way through a message to %s, so the channel is broken: reconnect",
                            address_.c_str()));
    }
    if (status == IPC_PEER_CLOSED) {
        if (!peer_gone_told_.test_and_set()) stream_->peer_gone(deadline);
        fail(status, "the peer at %s has closed or died: reconnect", address_.c_str());
    }
    return sending_failure_.keep(status);
}

// ---- receiver's half

// Whether the frame, or the last one if none is being received, is longer than the receive buffer: then it is gathered
// apart or read directly to where the caller wants it.
bool FrameStream::is_large() const {
    return frame_.length > receive_buffer_size;
}

Status FrameStream::next(FrameInfo* info, const Deadline& deadline) {
    if (Status status = check(receiving_failure_); status != IPC_OK) return status;
    if (!has_frame_) {
        if (dropped_ != 0)
            if (Status status = skip_dropped(deadline); status != IPC_OK) return status;
        const size_t most = is_large() ? read_before_large : receive_buffer_size;
        // A peer that speaks something else may wait for our answer to a few bytes.
        if (Status status = fill(sizeof frame_magic, most, deadline); status != IPC_OK) return status;
        if (load_u32(buffer_.get() + begin_) != frame_magic) return not_a_frame();
        if (Status status = fill(frame_header_size, most, deadline); status != IPC_OK) return status;
        if (Status status = parse_header(); status != IPC_OK) return status;
    }
    *info = frame_;
    return IPC_OK;
}

Status FrameStream::not_a_frame() {
    return give_up(fail(IPC_NOT_OUR_PROTOCOL,
                        "what came from %s is not a frame of ipc: check that the peer uses the same transport",
                        address_.c_str()));
}

Status FrameStream::parse_header() {
    FrameInfo frame;
    if (!read_frame_header(buffer_.get() + begin_, &frame)) {
        return not_a_frame();
    }
    if (frame.length > limit()) {
        fail(IPC_PEER_TOO_LARGE,
             "the peer at %s announced a message of %zu bytes, over this side's limit of %zu: "
             "raise it with option max=",
             address_.c_str(), frame.length, limit());
        return give_up(IPC_PEER_TOO_LARGE);
    }
    begin_ += frame_header_size;
    frame_ = frame;
    gathered_ = 0;
    has_frame_ = true;
    return IPC_OK;
}

Status FrameStream::take(void* buffer, const Deadline& deadline) {
    if (Status status = check(receiving_failure_); status != IPC_OK) return status;
    auto* to = static_cast<std::byte*>(buffer);
    if (!is_large()) {
        if (Status status = fill(frame_.length, receive_buffer_size, deadline); status != IPC_OK) return status;
        if (frame_.length != 0) std::memcpy(to, buffer_.get() + begin_, frame_.length);
        consume();
        return IPC_OK;
    }
    size_t have = gathered_;
    if (have != 0) std::memcpy(to, large_.data(), have);
    have += move_buffered(to + have, frame_.length - have);
    while (have < frame_.length) {
        size_t count = 0;
        const Status status = read(to + have, frame_.length - have, ByteStream::Fill::all, deadline, &count);
        have += count;
        if (status == IPC_OK) continue;
        // The caller's buffer is the caller's again: keep what came for the next try.
        if (status == IPC_TIMED_OUT && have != 0) {
            if (!large_.grow(have)) return give_up(no_memory(have));
            std::memcpy(large_.data(), to, have);
            gathered_ = have;
        }
        return status;
    }
    consume();
    return IPC_OK;
}

Status FrameStream::view(const void** data, const Deadline& deadline) {
    if (Status status = check(receiving_failure_); status != IPC_OK) return status;
    const Status status = is_large() ? gather(deadline) : fill(frame_.length, receive_buffer_size, deadline);
    if (status == IPC_OK) *data = is_large() ? large_.data() : buffer_.get() + begin_;
    return status;
}

// Brings the whole payload of a large frame together in large_.
Status FrameStream::gather(const Deadline& deadline) {
    while (gathered_ < frame_.length) {
        if (gathered_ == large_.capacity() || large_.capacity() < first_gather) {
            const size_t wanted = std::min(frame_.length, std::max(first_gather, 2 * gathered_));
            if (!large_.grow(wanted)) return no_memory(wanted);
        }
        const size_t room = std::min(large_.capacity(), frame_.length) - gathered_;
        size_t count = move_buffered(large_.data() + gathered_, room);
        if (count == 0) {
            const Status status = read(large_.data() + gathered_, room, ByteStream::Fill::all, deadline, &count);
            if (status != IPC_OK) return status;
        }
        gathered_ += count;
    }
    return IPC_OK;
}

Status FrameStream::release() {
    // What has not arrived yet is skipped by the next next(), within that call's time-out.
    if (has_frame_) {
        const size_t missing = is_large() ? frame_.length - gathered_ : frame_.length;
        dropped_ = missing - move_buffered(nullptr, missing);
        has_frame_ = false;
    }
    return IPC_OK;
}

// The frame is done with; a small one's payload still lies in buffer_.
void FrameStream::consume() {
    if (!is_large()) begin_ += frame_.length;
    has_frame_ = false;
}

// Takes at most `most` bytes out of the receive buffer, to `to` unless it is null. Returns how many.
size_t FrameStream::move_buffered(std::byte* to, size_t most) {
    const size_t count = std::min(most, end_ - begin_);
    if (to != nullptr && count != 0) std::memcpy(to, buffer_.get() + begin_, count);
    begin_ += count;
    return count;
}

// Waits until at least `wanted` bytes, at most the buffer's size, lie in the receive buffer; reads at most `most` at a
// time.
Status FrameStream::fill(size_t wanted, size_t most, const Deadline& deadline) {
    while (end_ - begin_ < wanted) {
        if (begin_ == end_) {
            begin_ = end_ = 0;
        } else if (receive_buffer_size - begin_ < std::max(wanted, least_room)) {
            std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        size_t count = 0;
        const size_t room = std::min(receive_buffer_size - end_, most);
        const Status status = read(buffer_.get() + end_, room, ByteStream::Fill::some, deadline, &count);
        if (status != IPC_OK) return status;
        end_ += count;
    }
    return IPC_OK;
}

Status FrameStream::skip_dropped(const Deadline& deadline) {
    dropped_ -= move_buffered(nullptr, dropped_);
    while (dropped_ != 0) {
        // Everything buffered was dropped, so the whole buffer is free to read into.
        begin_ = end_ = 0;
        size_t count = 0;
        const Status status =
            read(buffer_.get(), std::min(dropped_, receive_buffer_size), ByteStream::Fill::some, deadline, &count);
        if (status != IPC_OK) return status;
        dropped_ -= count;
    }
    return IPC_OK;
}

Status FrameStream::read(void* to, size_t capacity, ByteStream::Fill fill, const Deadline& deadline, size_t* count) {
    const Status status = stream_->read(to, capacity, fill, deadline, count);
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
        return closed_here();
    if (status == IPC_OK && *count != 0) [[likely]]
        return IPC_OK;
    if (status == IPC_OK || status == IPC_CLOSED) return stream_ended(deadline);
    if (status == IPC_TIMED_OUT) return fail(status, "nothing came from %s within the time-out", address_.c_str());
    return give_up(status);
}

Status FrameStream::stream_ended(const Deadline& deadline) {
    if (receiving_failure_.any()) return receiving_failure_.repeat(); // the sender's half has given up
    if (!peer_gone_told_.test_and_set()) stream_->peer_gone(deadline);
    if (has_frame_ || dropped_ != 0 || end_ != begin_)
        return give_up(fail(IPC_TRUNCATED, "the peer at %s closed or died in the middle of a message: reconnect",
                            address_.c_str()));
    fail(IPC_PEER_CLOSED, "the peer at %s closed the connection or died: reconnect", address_.c_str());
    return receiving_failure_.keep(IPC_PEER_CLOSED);
}

Status FrameStream::no_memory(size_t length) {
    return fail(IPC_OUT_OF_MEMORY, "out of memory for a message of %zu bytes to or from %s: send smaller ones", length,
                address_.c_str());
}

} // namespace ipc
