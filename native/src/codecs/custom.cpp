#include "codecs/custom.hpp"

#include "codecs/custom_reader.hpp"
#include "codecs/short_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace ipc::codecs {
namespace {

static_assert(std::endian::native == std::endian::little,
              "integers are copied as they are; this system needs them turned");

constexpr size_t length_size = 4;

size_t size_of(const std::string& text) {
    return length_size + text.size();
}

template <class Texts>
size_t size_of(const Texts& texts) {
    size_t size = 0;
    for (const std::string& text : texts) size += size_of(text);
    return size;
}

// Every length and count on the wire is 32 bits; when the whole fits, so does each of them.
size_t check_size(size_t size) {
    if (size > std::numeric_limits<uint32_t>::max())
        throw std::length_error("the object takes " + std::to_string(size) +
                                " bytes in codec custom, which can say 4294967295: split it");
    return size;
}

template <class Integer>
uint8_t* put(uint8_t* at, Integer value) {
    std::memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

// Where an object is written: a room that is large enough, because size() was asked before ...
struct AmpleRoom {
    static bool holds(const uint8_t*, size_t) { return true; }
};

// ... or one that may prove too small on the way. One pass over the texts is then enough: two would fetch every text's
// header twice.
struct GivenRoom {
    const uint8_t* end;
    bool holds(const uint8_t* at, size_t wanted) const { return wanted <= static_cast<size_t>(end - at); }
};

// These return what follows what they wrote, or null if the room is too small.
template <class Room>
uint8_t* put_text(Room room, uint8_t* at, const std::string& text) {
    const size_t length = text.size();
    if (!room.holds(at, length_size) || !room.holds(at + length_size, length)) return nullptr;
    at = put(at, static_cast<uint32_t>(length));
    copy_text(at, text.data(), length);
    return at + length;
}

template <class Room, class Texts>
uint8_t* put_texts(Room room, uint8_t* at, const Texts& texts) {
    for (const std::string& text : texts) {
        at = put_text(room, at, text);
        if (!at) return nullptr;
    }
    return at;
}

constexpr size_t header_size = 8 + 4 + 4; // of requests and of replies

template <class Room, class Texts>
uint8_t* put_object(Room room, uint8_t* at, const BasicRequest<Texts>& request) {
    if (!room.holds(at, header_size)) return nullptr;
    at = put(at, request.sequence);
    at = put(at, static_cast<uint32_t>(request.ids.size()));
    at = put(at, static_cast<uint32_t>(request.fields.size()));
    at = put_text(room, at, request.name);
    if (at) at = put_texts(room, at, request.ids);
    return at ? put_texts(room, at, request.fields) : nullptr;
}

template <class Room, class Texts>
uint8_t* put_object(Room room, uint8_t* at, const BasicReply<Texts>& reply) {
    if (!room.holds(at, header_size)) return nullptr;
    at = put(at, reply.sequence);
    at = put(at, reply.columns);
    at = put(at, static_cast<uint32_t>(reply.cells.size()));
    return put_texts(room, at, reply.cells);
}

// 0 where the room is too small; no more of it is used than an object may take.
template <class Object>
size_t write_to_given(const Object& object, std::span<uint8_t> room) {
    const size_t usable = std::min<size_t>(room.size(), std::numeric_limits<uint32_t>::max());
    const uint8_t* const end = put_object(GivenRoom{room.data() + usable}, room.data(), object);
    return end ? static_cast<size_t>(end - room.data()) : 0;
}

} // namespace

template <class Texts>
size_t BasicCustom<Texts>::size(const Request& request) const {
    return check_size(header_size + size_of(request.name) + size_of(request.ids) + size_of(request.fields));
}

template <class Texts>
size_t BasicCustom<Texts>::size(const Reply& reply) const {
    return check_size(header_size + size_of(reply.cells));
}

template <class Texts>
void BasicCustom<Texts>::write(const Request& request, uint8_t* room) const {
    put_object(AmpleRoom(), room, request);
}

template <class Texts>
void BasicCustom<Texts>::write(const Reply& reply, uint8_t* room) const {
    put_object(AmpleRoom(), room, reply);
}

template <class Texts>
size_t BasicCustom<Texts>::write_if_it_fits(const Request& request, std::span<uint8_t> room) const {
    return write_to_given(request, room);
}

template <class Texts>
size_t BasicCustom<Texts>::write_if_it_fits(const Reply& reply, std::span<uint8_t> room) const {
    return write_to_given(reply, room);
}

template <class Texts>
std::string BasicCustom<Texts>::decode(Bytes bytes, Request& request) const {
    CustomReader reader(bytes, "request");
    uint32_t ids = 0, fields = 0;
    const bool good = reader.integer(&request.sequence, "its sequence") && reader.integer(&ids, "its number of ids") &&
                      reader.integer(&fields, "its number of fields") &&
                      reader.can_hold(uint64_t{1} + ids + fields, "texts") && reader.text(request.name) &&
                      reader.texts(request.ids, ids) && reader.texts(request.fields, fields) && reader.end();
    return good ? std::string() : reader.complaint();
}

template <class Texts>
std::string BasicCustom<Texts>::decode(Bytes bytes, Reply& reply) const {
    CustomReader reader(bytes, "reply");
    uint32_t cells = 0;
    const bool good = reader.integer(&reply.sequence, "its sequence") &&
                      reader.integer(&reply.columns, "its number of columns") &&
                      reader.integer(&cells, "its number of cells") && reader.can_hold(cells, "cells") &&
                      reader.texts(reply.cells, cells) && reader.end();
    return good ? std::string() : reader.complaint();
}

template class BasicCustom<Strings>;
template class BasicCustom<LinkedStrings>;

static_assert(ObjectCodec<Custom> && ObjectCodec<BasicCustom<LinkedStrings>>);

} // namespace ipc::codecs
