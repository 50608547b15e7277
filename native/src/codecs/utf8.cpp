#include "codecs/utf8.hpp"

namespace ipc::codecs {
namespace {

// How many bytes follow a first byte, and what the first of those may be: that range is what keeps out overlong
// forms (E0, F0), surrogates (ED) and code points over U+10FFFF (F4). Unicode standard, table 3-7.
struct Sequence {
    unsigned following;
    unsigned char lowest;
    unsigned char highest;
};

bool sequence_of(unsigned char first, Sequence* sequence) {
    if (first < 0xC2) return false;
    if (first < 0xE0)
        *sequence = {1, 0x80, 0xBF};
    else if (first < 0xF0)
        *sequence = {2, static_cast<unsigned char>(first == 0xE0 ? 0xA0 : 0x80),
                     static_cast<unsigned char>(first == 0xED ? 0x9F : 0xBF)};
    else if (first < 0xF5)
        *sequence = {3, static_cast<unsigned char>(first == 0xF0 ? 0x90 : 0x80),
                     static_cast<unsigned char>(first == 0xF4 ? 0x8F : 0xBF)};
    else
        return false;
    return true;
}

} // namespace

bool is_utf8_text(const char* characters, size_t length) {
    const auto* text = reinterpret_cast<const unsigned char*>(characters);
    for (size_t at = 0; at < length;) {
        const unsigned char first = text[at++];
        if (first < 0x80) continue;
        Sequence sequence;
        if (!sequence_of(first, &sequence) || length - at < sequence.following) return false;
        if (text[at] < sequence.lowest || text[at] > sequence.highest) return false;
        for (unsigned i = 1; i < sequence.following; ++i)
            if ((text[at + i] & 0xC0) != 0x80) return false;
        at += sequence.following;
    }
    return true;
}

} // namespace ipc::codecs
