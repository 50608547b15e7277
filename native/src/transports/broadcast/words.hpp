#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipc::broadcast {

// Copies between a caller's bytes and the ring. A reader may copy while the publisher overwrites, and finds that out
// afterwards; so that what it reads meanwhile is merely worthless and not a data race, the ring is read and written by
// relaxed atomic words. On x86-64 and arm64 these are plain moves.

inline void copy_in(std::atomic<uint64_t>* to, const void* message, size_t length) {
    const auto* from = static_cast<const unsigned char*>(message);
    const size_t whole = length / 8;
    for (size_t i = 0; i < whole; ++i) {
        uint64_t word;
        std::memcpy(&word, from + i * 8, 8);
        to[i].store(word, std::memory_order_relaxed);
    }
    if (const size_t rest = length % 8; rest != 0) {
        uint64_t word = 0;
        std::memcpy(&word, from + whole * 8, rest);
        to[whole].store(word, std::memory_order_relaxed);
    }
}

inline void copy_out(void* buffer, const std::atomic<uint64_t>* from, size_t length) {
    auto* to = static_cast<unsigned char*>(buffer);
    const size_t whole = length / 8;
    for (size_t i = 0; i < whole; ++i) {
        const uint64_t word = from[i].load(std::memory_order_relaxed);
        std::memcpy(to + i * 8, &word, 8);
    }
    if (const size_t rest = length % 8; rest != 0) {
        const uint64_t word = from[whole].load(std::memory_order_relaxed);
        std::memcpy(to + whole * 8, &word, rest);
    }
}

} // namespace ipc::broadcast
