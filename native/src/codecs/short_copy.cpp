#include "codecs/short_copy.hpp"

namespace ipc::codecs {
namespace {

template <class Integer>
uint64_t copy_both_ends(char* to, const char* from, size_t length) {
    Integer head, tail;
    std::memcpy(&head, from, sizeof head);
    std::memcpy(&tail, from + length - sizeof tail, sizeof tail);
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + length - sizeof tail, &tail, sizeof tail);
    return head | tail;
}

bool copy_long_text(char* to, const char* from, size_t length) {
    const Sixteen last = sixteen_at(from + length - 16); // some of it lies in the block before, too
    Sixteen seen = last;
    for (size_t at = 0; at + 16 < length; at += 16) {
        const Sixteen block = sixteen_at(from + at);
        block.store(to + at);
        seen = seen | block;
    }
    last.store(to + length - 16);
    return seen.is_ascii();
}

} // namespace

bool copy_other_text(void* to_bytes, const void* from_bytes, size_t length) {
    auto* to = static_cast<char*>(to_bytes);
    const auto* from = static_cast<const char*>(from_bytes);
    if (length > 32) return copy_long_text(to, from, length);
    uint64_t seen = 0;
    if (length >= 8)
        seen = copy_both_ends<uint64_t>(to, from, length);
    else if (length >= 4)
        seen = copy_both_ends<uint32_t>(to, from, length);
    else
        for (size_t at = 0; at < length; ++at) {
            const char one = from[at];
            to[at] = one;
            seen |= static_cast<unsigned char>(one);
        }
    return (seen & not_ascii) == 0;
}

} // namespace ipc::codecs
