// reply_writer.hpp - a part of ipc.hpp, which includes it: what a handler replies with.
#ifndef IPC_REPLY_WRITER_HPP
#define IPC_REPLY_WRITER_HPP

#include "ipc/result.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>

namespace ipc {
namespace detail {

// As memcpy. From 129 bytes to 2 kB in blocks of 64, the last of which overlaps the one before it: a call of 1 kB over
// shm takes 4 to 9 % less so than by glibc's memcpy (docs/experiments.md, "Copying").
inline void copy_into_room(std::byte* room, const void* data, size_t size) noexcept {
    const auto* from = static_cast<const std::byte*>(data);
    constexpr size_t block = 64, least = 129, most = 2048;
    if (size < least || size > most) {
        std::memcpy(room, from, size);
        return;
    }
    const std::byte* const last = from + size - block;
    std::byte* const last_of_room = room + size - block;
    for (; from < last; from += block, room += block) std::memcpy(room, from, block);
    std::memcpy(last_of_room, last, block);
}

} // namespace detail

// Writes a handler's reply.
class ReplyWriter {
  public:
    explicit ReplyWriter(ipc_reply_writer* writer) : writer_(writer) {}
    // Room for a reply of exactly `size` bytes, sent when the handler returns.
    std::byte* reserve(size_t size) { return value_of(try_reserve(size)); }
    Result<std::byte*> try_reserve(size_t size) noexcept {
        void* room = nullptr;
        const ipc_status status = writer_ != nullptr ? ipc_reply_reserve(writer_, size, &room)
                                                     : ipc_reserve_reply(channel_, size, &room, infinite);
        if (status != IPC_OK) {
            refused_ = status;
            return Result<std::byte*>(status, nullptr);
        }
        reserved_ = true;
        size_ = size;
        return static_cast<std::byte*>(room);
    }
    void write(const void* data, size_t size) { value_of(try_write(data, size)); }
    Result<void> try_write(const void* data, size_t size) noexcept {
        const Result<std::byte*> room = try_reserve(size);
        if (room && size != 0) detail::copy_into_room(*room, data, size);
        return Result<void>(room.status());
    }
    void write(std::string_view text) { write(text.data(), text.size()); }
    Result<void> try_write(std::string_view text) noexcept { return try_write(text.data(), text.size()); }
#if defined(__cpp_lib_span)
    void write(std::span<const std::byte> reply) {
        write(reply.data(), reply.size());
    }
    Result<void> try_write(std::span<const std::byte> reply) noexcept {
        return try_write(reply.data(), reply.size());
    }
#endif

  private:
    // For Server, which receives requests itself.
    friend class Server;
    explicit ReplyWriter(ipc_channel* channel) : channel_(channel) {}
    void fail(const char* text) {
        if (reserved_) detail::throw_unless_ok(ipc_cancel(channel_));
        detail::throw_unless_ok(ipc_fail_request(channel_, text, infinite));
    }
    void send() {
        detail::throw_unless_ok(reserved_ ? ipc_commit_reply(channel_, size_, infinite)
                                          : ipc_reply(channel_, nullptr, 0, infinite));
    }

    // Whether a failure that came out of the handler says that its client's channel has ended.
    bool is_end_of_channel(ipc_status failure) const {
        return failure == refused_ && (failure == IPC_PEER_CLOSED || failure == IPC_CLOSED || failure == IPC_TRUNCATED);
    }

    ipc_reply_writer* writer_ = nullptr;
    ipc_channel* channel_ = nullptr;
    bool reserved_ = false;
    ipc_status refused_ = IPC_OK; // why a room could not be had
    size_t size_ = 0;
};

} // namespace ipc

#endif
