#pragma once

#include <cstddef>
#if defined(_MSC_VER)
#    include <intrin.h>
#endif

// Asking for cache lines before they are needed. Where two processors share no cache a line takes some 200 ns from one to the other;
// a processor has many on the way at once, but only those that it knows of: its stores leave one after another, and the loads of
// the next message come late behind the work on this one. Hints: no address is too wrong for them.
namespace ipc::shared_memory {

inline constexpr size_t line_bytes = 64;

inline void fetch_line_to_read(const std::byte* line) {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0);
#elif defined(_MSC_VER)
    __prefetch(line);
#else
    __builtin_prefetch(line);
#endif
}

// Takes the line away from the other side: only for lines that it has done with.
inline void fetch_line_to_write(std::byte* line) {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _m_prefetchw(line);
#elif defined(_MSC_VER)
    __prefetch(line);
#elif defined(__x86_64__) || defined(__i386__)
    // __builtin_prefetch(line, 1) becomes a fetch to read unless the compiler may assume prefetchw. 64-bit processors without it take
    // it for a no-op, but for those before 2006; Windows has demanded it since 8.1.
    asm volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

inline void fetch_to_read(const std::byte* first, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) fetch_line_to_read(first + at);
}
inline void fetch_to_write(std::byte* first, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) fetch_line_to_write(first + at);
}

} // namespace ipc::shared_memory
