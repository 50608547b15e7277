#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::codecs {

// Any text; the slow half of is_utf8.
bool is_utf8_text(const unsigned char* text, size_t length);

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing over U+10FFFF).
// Most texts are ASCII and short, so that case is inline and looks at eight bytes at a time.
inline bool is_utf8(const char* text, size_t length) {
    constexpr uint64_t high_bits = 0x8080808080808080;
    const auto eight_at = [text](size_t at) {
        uint64_t eight;
        std::memcpy(&eight, text + at, sizeof eight);
        return eight;
    };
    uint64_t seen = 0;
    if (length >= 8) {
        for (size_t at = 0; at + 8 < length; at += 8) seen |= eight_at(at);
        seen |= eight_at(length - 8); // the last eight, some of them a second time
    } else {
        for (size_t at = 0; at < length; ++at) seen |= static_cast<unsigned char>(text[at]);
    }
    return (seen & high_bits) == 0 || is_utf8_text(reinterpret_cast<const unsigned char*>(text), length);
}

} // namespace ipc::codecs
