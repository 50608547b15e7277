#pragma once

#include "codecs/objects.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ipc::codecs {

using Bytes = std::span<const uint8_t>;

// Bytes that are written anew for every message: growing neither keeps nor clears what was there.
class Buffer {
  public:
    // Room for `size` bytes, undefined until written; the buffer's bytes are these from now on.
    uint8_t* make_room(size_t size) {
        if (size > capacity_) {
            data_ = std::make_unique_for_overwrite<uint8_t[]>(size);
            capacity_ = size;
        }
        size_ = size;
        return data_.get();
    }
    // All the room there is; its bytes are undefined, and none of them are the buffer's until make_room.
    std::span<uint8_t> whole_room() {
        size_ = 0;
        return {data_.get(), capacity_};
    }
    const uint8_t* data() const { return data_.get(); }
    size_t size() const { return size_; }
    Bytes bytes() const { return {data_.get(), size_}; }

  private:
    std::unique_ptr<uint8_t[]> data_;
    size_t capacity_ = 0;
    size_t size_ = 0;
};

// What every codec offers for both of its objects. A codec object keeps scratch memory between messages, so each
// thread has its own.
//   size    bytes the object takes, and makes ready what write needs. Throws std::length_error when a wire format
//   cannot
//           say so long an object, std::invalid_argument when a codec notices text that is not UTF-8.
//   write   the object of the size() just before, to exactly that many bytes; they are only written, never read,
//           so they may lie in memory shared with a peer.
//   decode  fills a reusable object. Returns "" or, when the bytes are damaged, an error message saying where; the object is
//   then
//           valid but its content unspecified. Memory taken is bounded by a small multiple of the bytes given.
template <class Codec, class Object>
concept Encodes = requires(Codec codec, const Object& object, Object& into, uint8_t* room, Bytes bytes) {
    { codec.size(object) } -> std::same_as<size_t>;
    { codec.write(object, room) } -> std::same_as<void>;
    { codec.decode(bytes, into) } -> std::same_as<std::string>;
    { Codec::sequence(object) } -> std::same_as<uint64_t>;
    Codec::set_sequence(into, uint64_t{1});
};

template <class Codec>
concept ObjectCodec = Encodes<Codec, typename Codec::Request> && Encodes<Codec, typename Codec::Reply> &&
    requires(const Request& request, const Reply& reply, typename Codec::Request& to_request,
             typename Codec::Reply& to_reply) {
    { Codec::id } -> std::convertible_to<std::string_view>;
    Codec::build(request, to_request);
    Codec::build(reply, to_reply);
    { Codec::to_domain(to_request) } -> std::same_as<Request>;
    { Codec::to_domain(to_reply) } -> std::same_as<Reply>;
    { Codec::same(to_request, request) } -> std::same_as<bool>;
    { Codec::same(to_reply, reply) } -> std::same_as<bool>;
};

// A codec that can write without knowing the size beforehand does so while the buffer's room is enough, which after the
// largest message it always is.
template <class Codec, class Object>
void encode(Codec& codec, const Object& object, Buffer& buffer) {
    if constexpr (requires { codec.write_if_it_fits(object, buffer.whole_room()); }) {
        const size_t size = codec.write_if_it_fits(object, buffer.whole_room());
        if (size > 0) {
            buffer.make_room(size);
            return;
        }
    }
    codec.write(object, buffer.make_room(codec.size(object)));
}

} // namespace ipc::codecs
