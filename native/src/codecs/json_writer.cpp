#include "codecs/json_writer.hpp"

#include "codecs/objects.hpp"
#include "codecs/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace ipc::codecs {
namespace {

constexpr uint64_t each = 0x0101010101010101; // times a byte: eight of them

// What eight characters need: bit 7 of a byte of `escapes` is set if any of them must be escaped, of `seen` if any is not ASCII.
struct Needs {
    uint64_t escapes = 0;
    uint64_t seen = 0;

    void look_at(const char* text) {
        uint64_t eight;
        std::memcpy(&eight, text, sizeof eight);
        const uint64_t quotes = eight ^ (each * '"'), backslashes = eight ^ (each * '\\');
        // A byte below n borrows into its bit 7, which it does not have itself. Whether any byte does is exact; which is not.
        escapes |=
            ((eight - each * 0x20) & ~eight) | ((quotes - each) & ~quotes) | ((backslashes - each) & ~backslashes);
        seen |= eight;
    }
};

Needs needs_of(const std::string& text) {
    Needs needs;
    const size_t length = text.size();
    if (length >= 8) {
        for (size_t at = 0; at + 8 < length; at += 8) needs.look_at(text.data() + at);
        needs.look_at(text.data() + length - 8); // the last eight, some of them a second time
    } else {
        char padded[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
        std::copy(text.begin(), text.end(), padded);
        needs.look_at(padded);
    }
    return needs;
}

// The character after the backslash of a short escape, or 0.
char short_escape(char character) {
    switch (character) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

} // namespace

void JsonWriter::begin() {
    size_ = 0;
    make_room(1);
    put('{');
}

void JsonWriter::end() {
    make_room(1);
    put('}');
}

void JsonWriter::add(std::string_view name, uint64_t number) {
    constexpr size_t most_digits = 20;
    put_name(name);
    make_room(most_digits);
    size_ =
        static_cast<size_t>(std::to_chars(&buffer_[size_], &buffer_[size_] + most_digits, number).ptr - buffer_.get());
}

void JsonWriter::add(std::string_view name, const std::string& text) {
    put_name(name);
    put_checked(text);
}

template <class Texts>
void JsonWriter::add_all(std::string_view name, const Texts& texts) {
    put_name(name);
    make_room(1);
    put('[');
    bool first = true;
    for (const std::string& text : texts) {
        make_room(1);
        if (!first) put(',');
        first = false;
        put_checked(text);
    }
    make_room(1);
    put(']');
}

// Names are ours: nothing in them is escaped.
void JsonWriter::put_name(std::string_view name) {
    make_room(name.size() + 4);
    if (buffer_[size_ - 1] != '{') put(',');
    put('"');
    std::memcpy(&buffer_[size_], name.data(), name.size());
    size_ += name.size();
    put('"');
    put(':');
}

void JsonWriter::put_checked(const std::string& text) {
    const Needs needs = needs_of(text);
    if ((needs.seen & not_ascii) != 0 && !is_utf8_text(text.data(), text.size()))
        throw std::invalid_argument("a text of the object is not UTF-8, which JSON cannot carry: convert it first");
    if ((needs.escapes & not_ascii) != 0) return put_escaped(text);
    make_room(text.size() + 2);
    put('"');
    std::memcpy(&buffer_[size_], text.data(), text.size());
    size_ += text.size();
    put('"');
}

void JsonWriter::put_escaped(std::string_view text) {
    constexpr size_t longest = 6; // \u001f
    make_room(longest * text.size() + 2);
    put('"');
    for (const char character : text) {
        const auto code = static_cast<unsigned char>(character);
        if (const char escape = short_escape(character)) {
            put('\\');
            put(escape);
        } else if (code < 0x20) {
            constexpr char digits[] = "0123456789abcdef";
            for (const char part : {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]}) put(part);
        } else {
            put(character);
        }
    }
    put('"');
}

void JsonWriter::make_room(size_t more) {
    if (capacity_ - size_ >= more) return;
    const size_t capacity = std::max({size_ + more, 2 * capacity_, size_t{256}});
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
    buffer_ = std::move(larger);
    capacity_ = capacity;
}

template void JsonWriter::add_all(std::string_view, const Strings&);
template void JsonWriter::add_all(std::string_view, const LinkedStrings&);

} // namespace ipc::codecs
