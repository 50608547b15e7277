#pragma once

#include "codecs/codec.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace ipc::codecs {

// Many objects as one message, docs/wire-formats.md "Collections": objects are appended one by one as they come, and the
// receiver splits the message into the bytes of each. What stands around an object is the codec's own way to say
// "and another one". The twin of managed/Ipc.Codecs/Collections.cs.

// Bytes that grow by appending; the room is kept for the next message.
class Collector {
  public:
    void clear() { size_ = 0; }
    // Room for `size` further bytes, undefined until written; took() says how many were.
    uint8_t* room(size_t size) {
        if (size > capacity_ - size_) grow(size);
        return data_.get() + size_;
    }
    void took(size_t size) { size_ += size; }
    const uint8_t* data() const { return data_.get(); }
    size_t size() const { return size_; }
    Bytes bytes() const { return {data_.get(), size_}; }

  private:
    void grow(size_t size) {
        const size_t capacity = std::max(size_ + size, 2 * capacity_);
        auto larger = std::make_unique_for_overwrite<uint8_t[]>(capacity);
        if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
        data_ = std::move(larger);
        capacity_ = capacity;
    }

    std::unique_ptr<uint8_t[]> data_;
    size_t capacity_ = 0;
    size_t size_ = 0;
};

// Codec custom and raw bytes: each object behind its length, a u32.
struct LengthFraming {
    static constexpr size_t most_overhead = 4;
    static uint8_t* open(uint8_t* at, size_t size);
    static uint8_t* close(uint8_t* at) { return at; }
    static std::string split(Bytes& left, Bytes& object);
};

// Codec protobuf: a message whose only field is `repeated Request requests = 1` (replies: `repeated Reply replies = 1`).
struct FieldFraming {
    static constexpr size_t most_overhead = 11;
    static uint8_t* open(uint8_t* at, size_t size);
    static uint8_t* close(uint8_t* at) { return at; }
    static std::string split(Bytes& left, Bytes& object);
};

// Codec json: JSON Lines, each object followed by a line feed, which JSON text has nowhere else unless it is laid out for
// people.
struct LineFraming {
    static constexpr size_t most_overhead = 1;
    static uint8_t* open(uint8_t* at, size_t) { return at; }
    static uint8_t* close(uint8_t* at) { return *at = '\n', at + 1; }
    static std::string split(Bytes& left, Bytes& object);
};

template <class Codec>
using FramingOf =
    std::conditional_t<Codec::id == std::string_view("json"), LineFraming,
                       std::conditional_t<Codec::id.starts_with("protobuf"), FieldFraming, LengthFraming>>;

// Encodes one more object into the collection.
template <class Codec, class Object>
void append(Codec& codec, const Object& object, Collector& collection) {
    using Framing = FramingOf<Codec>;
    const size_t size = codec.size(object);
    uint8_t* const begin = collection.room(size + Framing::most_overhead);
    uint8_t* const at = Framing::open(begin, size);
    codec.write(object, at);
    collection.took(static_cast<size_t>(Framing::close(at + size) - begin));
}

// Calls take(bytes) for each object of a collection, in order, until one returns an error message. Returns that, or an
// error message that says where the collection itself is damaged, or "".
template <class Codec, class Take>
std::string split(Bytes collection, Take&& take) {
    Bytes left = collection;
    while (!left.empty()) {
        const size_t at = collection.size() - left.size();
        Bytes object;
        std::string complaint = FramingOf<Codec>::split(left, object);
        if (!complaint.empty())
            return "the collection " + complaint + " at byte " + std::to_string(at) +
                   ": check that the peer sends it with codec " + std::string(Codec::id);
        complaint = take(object);
        if (!complaint.empty()) return complaint;
    }
    return {};
}

} // namespace ipc::codecs
