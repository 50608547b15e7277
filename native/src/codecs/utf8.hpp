#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::codecs {

constexpr uint64_t not_ascii = 0x8080808080808080; // the bits that no eight ASCII characters have

// Any text; the slow half of is_utf8.
bool is_utf8_text(const char* text, size_t length);

// All bytes or-ed into eight: whatever is not ASCII shows in the bits of not_ascii.
inline uint64_t seen_in(const char* text, size_t length) {
    const auto eight_at = [text](size_t at) {
        uint64_t eight;
        std::memcpy(&eight, text + at, sizeof eight);
        return eight;
    };
    uint64_t seen = 0;
    if (length >= 8) {
        for (size_t at = 0; at + 8 < length; at += 8) seen |= eight_at(at);
        return seen | eight_at(length - 8); // the last eight, some of them a second time
    }
    for (size_t at = 0; at < length; ++at) seen |= static_cast<unsigned char>(text[at]);
    return seen;
}

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing over U+10FFFF).
// Most texts are ASCII, which is quickly seen.
inline bool is_utf8(const char* text, size_t length) {
    return (seen_in(text, length) & not_ascii) == 0 || is_utf8_text(text, length);
}

} // namespace ipc::codecs
