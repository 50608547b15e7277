#include "codecs/collection.hpp"

#include <limits>
#include <stdexcept>

namespace ipc::codecs {
namespace {

// Field 1, length-delimited.
constexpr uint8_t tag = 0x0A;

Bytes take(Bytes& left, size_t head, size_t size) {
    const Bytes object = left.subspan(head, size);
    left = left.subspan(head + size);
    return object;
}

std::string promises(uint64_t size, size_t available) {
    return "promises an object of " + std::to_string(size) + " bytes where " + std::to_string(available) + " are left";
}

} // namespace

uint8_t* LengthFraming::open(uint8_t* at, size_t size) {
    if (size > std::numeric_limits<uint32_t>::max())
        throw std::length_error("an object of a collection takes " + std::to_string(size) +
                                " bytes, more than a length of 32 bits can say: split it");
    const auto length = static_cast<uint32_t>(size);
    std::memcpy(at, &length, sizeof length);
    return at + sizeof length;
}

std::string LengthFraming::split(Bytes& left, Bytes& object) {
    uint32_t length;
    if (left.size() < sizeof length) return "ends inside the length of an object";
    std::memcpy(&length, left.data(), sizeof length);
    if (length > left.size() - sizeof length) return promises(length, left.size() - sizeof length);
    object = take(left, sizeof length, length);
    return {};
}

uint8_t* FieldFraming::open(uint8_t* at, size_t size) {
    *at++ = tag;
    for (; size >= 0x80; size >>= 7) *at++ = static_cast<uint8_t>(size | 0x80);
    *at++ = static_cast<uint8_t>(size);
    return at;
}

std::string FieldFraming::split(Bytes& left, Bytes& object) {
    if (left[0] != tag) return "has something else than an object";
    uint64_t size = 0;
    size_t head = 1;
    for (unsigned shift = 0;; shift += 7) {
        // Ten bytes hold 64 bits; no object of four gigabytes and more fits a message, so five are enough.
        if (shift > 28) return "has an object's length in more than five bytes";
        if (head == left.size()) return "ends inside the length of an object";
        const uint8_t byte = left[head++];
        size |= uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) break;
    }
    if (size > left.size() - head) return promises(size, left.size() - head);
    object = take(left, head, static_cast<size_t>(size));
    return {};
}

std::string LineFraming::split(Bytes& left, Bytes& object) {
    const void* const end = std::memchr(left.data(), '\n', left.size());
    if (!end) return "has no line feed behind its last object";
    const auto size = static_cast<size_t>(static_cast<const uint8_t*>(end) - left.data());
    object = take(left, 0, size);
    left = left.subspan(1);
    return {};
}

} // namespace ipc::codecs
