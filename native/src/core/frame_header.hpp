#pragma once

#include "core/frame_channel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ipc {

// The 16 bytes before each payload, docs/wire-formats.md "Frames on streams".
constexpr size_t frame_header_size = 16;
constexpr uint32_t frame_magic = 0x31435049;

// Byte by byte, so that it is little-endian everywhere; compilers make one move of it.
inline void store_u32(std::byte* to, uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}
inline uint32_t load_u32(const std::byte* from) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::to_integer<uint32_t>(from[i]) << (8 * i);
    return value;
}

// `length` must fit in 32 bits: option max= is at most 2G.
inline void write_frame_header(std::byte* to, FrameKind kind, uint32_t id, size_t length) {
    store_u32(to, frame_magic);
    store_u32(to + 4, static_cast<uint32_t>(length));
    store_u32(to + 8, static_cast<uint32_t>(kind));
    store_u32(to + 12, id);
}

// False if the bytes are no header: wrong magic or unknown kind. The length is what the peer claims.
inline bool read_frame_header(const std::byte* from, FrameInfo* info) {
    const uint32_t kind = load_u32(from + 8);
    if (load_u32(from) != frame_magic || kind < 1 || kind > 4) return false;
    *info = {static_cast<FrameKind>(kind), load_u32(from + 12), load_u32(from + 4)};
    return true;
}

} // namespace ipc
