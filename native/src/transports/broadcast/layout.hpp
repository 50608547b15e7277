#pragma once

#include "shared_memory/layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

// The memory and the messages of `broadcast`, docs/wire-formats.md.
namespace ipc::broadcast {

inline constexpr uint32_t layout_broadcast = 3;    // beside shared_memory::Layout's numbers
inline constexpr uint32_t join_magic = 0x4A435049; // "IPCJ"
inline constexpr size_t header_bytes = 4096;
inline constexpr size_t page_bytes = 4096;
inline constexpr unsigned most_readers = 64;

enum class Policy : uint32_t { wait = 1, drop = 2 };
enum class Answer : uint32_t { welcome = 0, full = 1 };

// What a subscriber says first, and the only thing it ever says on the socket.
struct Join {
    uint32_t magic;
    uint32_t version;
    uint32_t policy;
    uint32_t waits_by; // shared_memory::WaitsBy
};
static_assert(sizeof(Join) == 16);

// What the publisher answers, with two descriptors if welcome: the data, and the subscriber's own page.
struct Greeting {
    uint32_t magic; // shared_memory::handover_magic
    uint32_t version;
    uint32_t layout;
    uint32_t answer;
    uint64_t position; // where the first message for this subscriber will begin
    uint64_t number;   // and its number
};
static_assert(sizeof(Greeting) == 32);

// The data's first page. The publisher alone can write to the data; subscribers have it mapped for reading.
struct DataHeader {
    uint32_t magic; // shared_memory::mapping_magic
    uint32_t version;
    uint32_t layout;
    uint32_t zero;
    uint64_t ring_bytes;
    uint32_t waits_by; // how the publisher waits
    // Together on a line, because readers need the first two for every message; claimed and resume change seldom.
    alignas(128) std::atomic<uint64_t> published; // every record below is complete
    std::atomic<uint64_t> claimed;                // every byte below (this - ring_bytes) may be overwritten at any time
    std::atomic<uint64_t> resume;                 // a record's beginning, where an overtaken reader goes on
    alignas(128) std::atomic<uint32_t> wakes;     // futex word of all readers: changes when sleepers are to look again
    alignas(128) std::atomic<uint32_t> closed;    // 1 once the publisher has closed in order
};
static_assert(offsetof(DataHeader, ring_bytes) == 16 && offsetof(DataHeader, waits_by) == 24 &&
              offsetof(DataHeader, published) == 128 && offsetof(DataHeader, claimed) == 136 &&
              offsetof(DataHeader, resume) == 144 && offsetof(DataHeader, wakes) == 256 &&
              offsetof(DataHeader, closed) == 384 && sizeof(DataHeader) <= header_bytes);

// A subscriber's own page, which no other subscriber can reach: what it does there harms nobody else.
struct ReaderPage {
    std::atomic<uint64_t> cursor;                   // reader: everything below has been read
    alignas(128) std::atomic<uint32_t> parked;      // reader sets 1 and sleeps on `wakes`; publisher sets 0, wakes
    alignas(128) std::atomic<uint32_t> room_wanted; // futex word: publisher sets 1 and sleeps, reader sets 0 and wakes
};
static_assert(offsetof(ReaderPage, parked) == 128 && offsetof(ReaderPage, room_wanted) == 256 &&
              sizeof(ReaderPage) <= page_bytes);

// A message in the ring, at a multiple of 16. It is never split: the ring is followed by half as much again, into which
// the last record of a lap runs on.
struct Record {
    std::atomic<uint32_t> length;
    std::atomic<uint32_t> zero;
    std::atomic<uint64_t> number; // 1, 2, 3 ... : what tells a reader how many it has lost

    std::atomic<uint64_t>* words() { return reinterpret_cast<std::atomic<uint64_t>*>(this + 1); }
    const std::atomic<uint64_t>* words() const { return reinterpret_cast<const std::atomic<uint64_t>*>(this + 1); }
};
inline constexpr size_t record_header_bytes = 16;
static_assert(sizeof(Record) == record_header_bytes);

inline uint64_t footprint(size_t length) {
    return record_header_bytes + ((uint64_t{length} + 15) & ~uint64_t{15});
}

// Positions count bytes since the start and may wrap: only differences mean something.
inline int64_t ahead(uint64_t position, uint64_t of) {
    return static_cast<int64_t>(position - of);
}

inline size_t largest_message(uint64_t ring_bytes) {
    return static_cast<size_t>(ring_bytes / 2);
}

inline uint64_t data_file_bytes(uint64_t ring_bytes) {
    return header_bytes + ring_bytes + ring_bytes / 2 + 4096;
}

inline bool is_ring_size(uint64_t bytes) {
    return bytes >= 65536 && bytes <= uint64_t{1} << 32 && (bytes & (bytes - 1)) == 0;
}

} // namespace ipc::broadcast
