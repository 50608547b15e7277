#include "codecs/custom.hpp"

#include "codecs/utf8.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace ipc::codecs {
namespace {

static_assert(std::endian::native == std::endian::little,
              "integers are copied as they are; this system needs them turned");

constexpr size_t length_size = 4;

// ---- encoding

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

// Copies and returns what seen_in does. An identifier or a cell nearly always has 16 to 32 bytes: those are copied as
// two overlapping blocks, a few instructions where a general memcpy is a call that must first find out the length. The
// blocks are looked at in registers: looking at the copy would wait until both overlapping stores have reached the
// cache.
uint64_t copy_text(void* to, const void* from, size_t length) {
    // One comparison for both bounds: below 16 the difference wraps to a huge number.
    if (length - 16 > 16) {
        std::memcpy(to, from, length);
        return seen_in(static_cast<const char*>(to), length);
    }
    uint64_t head[2], tail[2];
    std::memcpy(head, from, 16);
    std::memcpy(tail, static_cast<const char*>(from) + length - 16, 16);
    std::memcpy(to, head, 16);
    std::memcpy(static_cast<char*>(to) + length - 16, tail, 16);
    return head[0] | head[1] | tail[0] | tail[1];
}

uint8_t* put_text(uint8_t* at, const std::string& text) {
    at = put(at, static_cast<uint32_t>(text.size()));
    copy_text(at, text.data(), text.size());
    return at + text.size();
}

template <class Texts>
uint8_t* put_texts(uint8_t* at, const Texts& texts) {
    for (const std::string& text : texts) at = put_text(at, text);
    return at;
}

// ---- decoding

// Walks through bytes that may be anything. Nothing is read twice: a length is copied, checked, then used, and a text
// is copied before it is checked, so that bytes changed meanwhile by a peer cannot slip through.
class Reader {
  public:
    Reader(Bytes bytes, std::string_view object)
        : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()), object_(object) {}

    template <class Integer>
    bool integer(Integer* value, std::string_view what) {
        if (left() < sizeof *value) return complain("ends inside " + std::string(what));
        std::memcpy(value, at_, sizeof *value);
        at_ += sizeof *value;
        return true;
    }

    // Before any memory is taken for `count` texts: can they be there at all?
    bool can_hold(uint64_t count, std::string_view what) {
        if (count <= left() / length_size) return true;
        return complain("promises " + std::to_string(count) + " " + std::string(what) + " where " +
                        std::to_string(left()) + " bytes are left");
    }

    bool text(std::string& text) {
        const uint8_t* next = take_text(at_, text);
        if (next) at_ = next;
        return next;
    }

    template <class Texts>
    bool texts(Texts& texts, uint32_t count) {
        texts.resize(count);
        const uint8_t* at =
            at_; // kept in a register: the texts' bytes might, for all the compiler knows, overlap this object
        for (std::string& text : texts)
            if (at = take_text(at, text); !at) return false;
        at_ = at;
        return true;
    }

    bool end() { return at_ == end_ || complain("has " + std::to_string(left()) + " bytes more than its content"); }

    std::string complaint() && { return std::move(complaint_); }

  private:
    size_t left() const { return static_cast<size_t>(end_ - at_); }

    // What follows the text at `at`, or null after a complaint.
    const uint8_t* take_text(const uint8_t* at, std::string& text) {
        const auto available = static_cast<size_t>(end_ - at);
        uint32_t length;
        if (available < length_size) return refuse(at, "ends inside the length of a text");
        std::memcpy(&length, at, length_size);
        at += length_size;
        if (length > available - length_size) return refuse_length(at, length);
        if (text.size() != length) text.resize(length); // a reused object's texts mostly have their length already
        const uint64_t seen = copy_text(text.data(), at, length);
        if ((seen & not_ascii) != 0 && !is_utf8_text(text.data(), length))
            return refuse(at, "has a text that is not UTF-8");
        return at + length;
    }

    // Apart, so that the error messages do not burden the loop above.
    const uint8_t* refuse(const uint8_t* at, const char* what) {
        at_ = at;
        complain(what);
        return nullptr;
    }
    const uint8_t* refuse_length(const uint8_t* at, uint32_t length) {
        at_ = at;
        complain("promises a text of " + std::to_string(length) + " bytes where " + std::to_string(left()) +
                 " are left");
        return nullptr;
    }

    bool complain(const std::string& what) {
        complaint_ = "the custom " + std::string(object_) + " " + what + " at byte " + std::to_string(at_ - begin_) +
                     ": check that the peer sends it with codec custom";
        return false;
    }

    const uint8_t* const begin_;
    const uint8_t* at_;
    const uint8_t* const end_;
    std::string_view object_;
    std::string complaint_;
};

} // namespace

template <class Texts>
size_t BasicCustom<Texts>::size(const Request& request) const {
    return check_size(8 + 4 + 4 + size_of(request.name) + size_of(request.ids) + size_of(request.fields));
}

template <class Texts>
size_t BasicCustom<Texts>::size(const Reply& reply) const {
    return check_size(8 + 4 + 4 + size_of(reply.cells));
}

template <class Texts>
void BasicCustom<Texts>::write(const Request& request, uint8_t* room) const {
    room = put(room, request.sequence);
    room = put(room, static_cast<uint32_t>(request.ids.size()));
    room = put(room, static_cast<uint32_t>(request.fields.size()));
    room = put_text(room, request.name);
    room = put_texts(room, request.ids);
    put_texts(room, request.fields);
}

template <class Texts>
void BasicCustom<Texts>::write(const Reply& reply, uint8_t* room) const {
    room = put(room, reply.sequence);
    room = put(room, reply.columns);
    room = put(room, static_cast<uint32_t>(reply.cells.size()));
    put_texts(room, reply.cells);
}

template <class Texts>
std::string BasicCustom<Texts>::decode(Bytes bytes, Request& request) const {
    Reader reader(bytes, "request");
    uint32_t ids = 0, fields = 0;
    const bool good = reader.integer(&request.sequence, "its sequence") && reader.integer(&ids, "its number of ids") &&
                      reader.integer(&fields, "its number of fields") &&
                      reader.can_hold(uint64_t{1} + ids + fields, "texts") && reader.text(request.name) &&
                      reader.texts(request.ids, ids) && reader.texts(request.fields, fields) && reader.end();
    return good ? std::string() : std::move(reader).complaint();
}

template <class Texts>
std::string BasicCustom<Texts>::decode(Bytes bytes, Reply& reply) const {
    Reader reader(bytes, "reply");
    uint32_t cells = 0;
    const bool good = reader.integer(&reply.sequence, "its sequence") &&
                      reader.integer(&reply.columns, "its number of columns") &&
                      reader.integer(&cells, "its number of cells") && reader.can_hold(cells, "cells") &&
                      reader.texts(reply.cells, cells) && reader.end();
    return good ? std::string() : std::move(reader).complaint();
}

template class BasicCustom<Strings>;
template class BasicCustom<LinkedStrings>;

static_assert(ObjectCodec<Custom> && ObjectCodec<BasicCustom<LinkedStrings>>);

} // namespace ipc::codecs
