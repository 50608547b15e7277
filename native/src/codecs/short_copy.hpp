#pragma once

#include "codecs/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#    include <emmintrin.h>
#endif

namespace ipc::codecs {

// Sixteen bytes in a register of the processor's widest kind that every build may use. Pairs of integers would do the same
// in twice the time: compilers take them through two registers and back.
class Sixteen {
  public:
    Sixteen operator|(Sixteen other) const;
    void store(void* to) const;
    bool is_ascii() const; // whether no byte has its highest bit set

#if defined(__SSE2__) || defined(_M_X64)
    explicit Sixteen(__m128i bytes) : bytes_(bytes) {}

  private:
    __m128i bytes_;
#else
    Sixteen(uint64_t low, uint64_t high) : low_(low), high_(high) {}

  private:
    uint64_t low_, high_;
#endif
};

#if defined(__SSE2__) || defined(_M_X64)
inline Sixteen sixteen_at(const void* from) {
    return Sixteen(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}
inline Sixteen Sixteen::operator|(Sixteen other) const {
    return Sixteen(_mm_or_si128(bytes_, other.bytes_));
}
inline void Sixteen::store(void* to) const {
    _mm_storeu_si128(static_cast<__m128i*>(to), bytes_);
}
inline bool Sixteen::is_ascii() const {
    return _mm_movemask_epi8(bytes_) == 0;
}
#else
inline Sixteen sixteen_at(const void* from) {
    uint64_t halves[2];
    std::memcpy(halves, from, sizeof halves);
    return {halves[0], halves[1]};
}
inline Sixteen Sixteen::operator|(Sixteen other) const {
    return {low_ | other.low_, high_ | other.high_};
}
inline void Sixteen::store(void* to) const {
    std::memcpy(to, &low_, sizeof low_);
    std::memcpy(static_cast<char*>(to) + sizeof low_, &high_, sizeof high_);
}
inline bool Sixteen::is_ascii() const {
    return ((low_ | high_) & not_ascii) == 0;
}
#endif

// Copies a text that is no Sixteen long, or longer than two; apart, because most are between.
bool copy_other_text(void* to, const void* from, size_t length);

// Copies and says whether all of it is ASCII. An identifier or a cell nearly always has 16 to 32 bytes: those are copied as
// two overlapping blocks, a few instructions where a general memcpy is a call that must first find out the length. What is
// looked at is what was copied, in registers: looking at the copy would wait until both overlapping stores have reached
// the cache, and looking at the original again could find what a peer has changed meanwhile.
inline bool copy_text(void* to, const void* from, size_t length) {
    // One comparison for both bounds: below 16 the difference wraps to a huge number.
    if (length - 16 > 16) return copy_other_text(to, from, length);
    const Sixteen head = sixteen_at(from);
    const Sixteen tail = sixteen_at(static_cast<const char*>(from) + length - 16);
    head.store(to);
    tail.store(static_cast<char*>(to) + length - 16);
    return (head | tail).is_ascii();
}

// As copy_text, without a copy.
inline bool is_ascii(const void* text, size_t length) {
    if (length - 16 > 16) return (seen_in(static_cast<const char*>(text), length) & not_ascii) == 0;
    return (sixteen_at(text) | sixteen_at(static_cast<const char*>(text) + length - 16)).is_ascii();
}

} // namespace ipc::codecs
