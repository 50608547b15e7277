#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// The file of a queue, docs/wire-formats.md "Queues": this header in its first page, then the data area. Only 32-bit words and
// offsets, so that 32-bit and 64-bit processes share it.
namespace ipc::queue {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

inline constexpr uint32_t file_magic = 0x51435049; // "IPCQ"
inline constexpr uint32_t file_version = 1;
inline constexpr uint32_t header_bytes = 4096;
inline constexpr uint32_t smallest_size = 64 * 1024;
inline constexpr uint32_t largest_size = 1u << 30;

// What is written once, before the file gets its name.
struct FileFormat {
    uint32_t magic;
    uint32_t version;
    uint32_t size; // bytes of the data area, a power of two
    uint32_t zero;
};

// Each word that is written by other participants than its neighbours has a line (and the one the hardware fetches along) of its own.
struct Header {
    FileFormat format;
    alignas(64) uint32_t wake_name[4];                   // Windows: the maker's, before the file gets its name; else 0
    alignas(128) std::atomic<uint32_t> next_participant; // whoever opens
    alignas(128) std::atomic<uint32_t> writer_lock;      // 0 free, else 2 x participant + 1 if somebody sleeps for it
    std::atomic<uint32_t> head_seen;                     // by the holder of writer_lock: head when it last looked
    alignas(128) std::atomic<uint32_t> tail;             // by the holder of writer_lock: bytes ever put in, modulo 2^32
    alignas(128) std::atomic<uint32_t> readers_parked;   // readers, waiting for a message
    std::atomic<uint32_t> readers_woken;                 // Windows: how often all of them were woken
    alignas(128) std::atomic<uint32_t> reader_lock;      // as writer_lock
    std::atomic<uint32_t> tail_seen;                     // by the holder of reader_lock: tail when it last looked
    alignas(128) std::atomic<uint32_t> head; // by the holder of reader_lock: bytes ever taken out, modulo 2^32
    alignas(128) std::atomic<uint32_t> writers_parked; // writers, waiting for room
    std::atomic<uint32_t> writers_woken;               // Windows: how often all of them were woken
};
static_assert(sizeof(FileFormat) == 16 && offsetof(Header, wake_name) == 64 &&
              offsetof(Header, next_participant) == 128 && offsetof(Header, writer_lock) == 256 &&
              offsetof(Header, head_seen) == 260 && offsetof(Header, tail) == 384 &&
              offsetof(Header, readers_parked) == 512 && offsetof(Header, readers_woken) == 516 &&
              offsetof(Header, reader_lock) == 640 && offsetof(Header, tail_seen) == 644 &&
              offsetof(Header, head) == 768 && offsetof(Header, writers_parked) == 896 &&
              offsetof(Header, writers_woken) == 900 && sizeof(Header) <= header_bytes);

// A record in the data area: its length, its own position, the message; then up to the next multiple of 8.
inline constexpr uint32_t record_header_bytes = 8;
// In place of a length: nothing more up to the end of the area, go on at its beginning.
inline constexpr uint32_t skip_to_start = 0xFFFFFFFF;

inline constexpr uint32_t footprint_of(uint32_t length) {
    return (record_header_bytes + length + 7) & ~uint32_t{7};
}

// The longest message: its record fits into one half, so that it always fits into an empty queue, wherever that stands.
inline constexpr uint32_t longest_message(uint32_t size) {
    return size / 2 - record_header_bytes;
}

inline constexpr bool is_size(uint64_t size) {
    return size >= smallest_size && size <= largest_size && (size & (size - 1)) == 0;
}

} // namespace ipc::queue
