#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Only where it was measured. Not for Windows: g++ there may put a vector of 32 bytes where the stack is aligned to 16.
#if defined(__x86_64__) && defined(__linux__)
#    define IPC_COPY_IN_BLOCKS
#    include <immintrin.h>
#endif

// Copies of payloads into and out of shared memory.
namespace ipc::shm {

// Longer messages take a second line, and memcpy's vectors of 32 bytes write both lines in fewer steps.
inline constexpr size_t most_bytes_in_moves = 48;

// Copies at most 48 bytes: a few overlapping moves instead of a call, which costs as much as all else that sending a short
// message does.
inline void copy_short(std::byte* to, const std::byte* from, size_t length) {
    struct Block {
        std::byte bytes[16];
    };
    auto move = [&]<class Piece>(size_t at, Piece piece) {
        std::memcpy(&piece, from + at, sizeof piece);
        std::memcpy(to + at, &piece, sizeof piece);
    };
    if (length >= 16) {
        Block last;
        std::memcpy(&last, from + length - 16, 16);
        move(0, Block{});
        if (length > 32) move(16, Block{});
        std::memcpy(to + length - 16, &last, 16);
    } else if (length >= 8) {
        uint64_t last;
        std::memcpy(&last, from + length - 8, 8);
        move(0, uint64_t{});
        std::memcpy(to + length - 8, &last, 8);
    } else if (length >= 4) {
        uint32_t last;
        std::memcpy(&last, from + length - 4, 4);
        move(0, uint32_t{});
        std::memcpy(to + length - 4, &last, 4);
    } else if (length != 0) {
        const std::byte middle = from[length / 2], last = from[length - 1];
        to[0] = from[0];
        to[length / 2] = middle;
        to[length - 1] = last;
    }
}
#ifdef IPC_COPY_IN_BLOCKS
// memcpy takes up to 128 bytes in a few moves, and knows better ways for long messages.
inline constexpr size_t least_bytes_in_blocks = 129, most_bytes_in_blocks = 2048;

inline const bool has_vectors_of_32 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2") != 0);

__attribute__((target("avx2"), always_inline)) inline void copy_block(std::byte* to, const std::byte* from) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32), high);
}
// What needs two lines and no more than one vector of 64 goes by one move, of exactly so many bytes. In several moves, as memcpy makes them, calls
// of 49 to 63 bytes take up to twice the time (docs/experiments.md, "49 to 63 bytes"). Call only if has_vectors_of_64: on processors with
// vbmi2, because earlier ones become slower by such vectors.
inline constexpr size_t most_bytes_in_one_move = 64;

inline const bool has_vectors_of_64 =
    (__builtin_cpu_init(), __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0);

__attribute__((target("avx512f,avx512bw"), noinline)) inline void copy_in_one_move(std::byte* to, const std::byte* from,
                                                                                   size_t length) {
    const __mmask64 all = ~uint64_t{0} >> (64 - length);
    _mm512_mask_storeu_epi8(to, all, _mm512_maskz_loadu_epi8(all, from));
}
// Forward in blocks of 64 bytes, the last of which overlaps the one before it: no alignment first and no choice by length, which memcpy makes.
// A call over shm takes 7 to 12 % less so (docs/experiments.md, "Copying"). C#'s own copy is such a loop. Call only if has_vectors_of_32.
__attribute__((target("avx2"), noinline)) inline void copy_blocks(std::byte* to, const std::byte* from, size_t length) {
    const std::byte* const last = from + length - 64;
    std::byte* const last_to = to + length - 64;
    for (; from < last; from += 64, to += 64) copy_block(to, from);
    copy_block(last_to, last);
}
#endif

inline void copy_payload(std::byte* to, const std::byte* from, size_t length) {
    if (length <= most_bytes_in_moves) return copy_short(to, from, length);
#ifdef IPC_COPY_IN_BLOCKS
    if (length <= most_bytes_in_one_move && has_vectors_of_64) return copy_in_one_move(to, from, length);
    if (length >= least_bytes_in_blocks && length <= most_bytes_in_blocks && has_vectors_of_32)
        return copy_blocks(to, from, length);
#endif
    std::memcpy(to, from, length);
}

} // namespace ipc::shm
