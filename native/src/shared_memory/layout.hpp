#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ipc::shared_memory {

// The mapping's common header, docs/wire-formats.md. Atomics in shared memory must be lock-free and address-free.
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

inline constexpr uint32_t handover_magic = 0x53435049; // "IPCS"
inline constexpr uint32_t mapping_magic = 0x4D435049;  // "IPCM"
inline constexpr size_t header_bytes = 4096;

enum class Layout : uint32_t { slots = 1, event = 2 };
// Of what goes over a mapping; `version` where nothing has changed since.
inline constexpr uint32_t version = 1;
// Version 3 of `slots`: messages in turn. Version 2: a writer invalidates the slot behind its record. In version 1 the reader
// invalidated what it gave back.
constexpr uint32_t version_of(Layout layout) {
    return layout == Layout::slots ? 3 : version;
}

enum class WaitsBy : uint32_t { unknown = 0, spinning = 1, parking = 2 };

// One ring's control words. Each word that one side writes while the other reads has a line (and its neighbour, which
// the hardware likes to fetch along) of its own.
struct RingControl {
    alignas(128) std::atomic<uint64_t> slots_read; // by the reader
    std::atomic<uint64_t> data_read;               // by the reader
    alignas(128) std::atomic<uint32_t> reader_parked;
    alignas(128) std::atomic<uint32_t> writer_parked;
    alignas(128) std::atomic<uint32_t> waits_by; // the side that writes this ring, about itself
    std::atomic<uint32_t> closed;                // the side that writes this ring, about itself
};
static_assert(sizeof(RingControl) == 512);

// The state of one block of shm-event; beside the state word its frame's header.
struct EventControl {
    alignas(64) std::atomic<uint32_t> state; // 0 empty, 1 full
    std::atomic<uint32_t> length;
    std::atomic<uint32_t> kind;
    std::atomic<uint32_t> id;
};

struct Header {
    uint32_t magic;
    uint32_t version;
    uint32_t layout;
    uint32_t slot_count;
    uint64_t data_bytes;
    alignas(256) RingControl ring[2];
    alignas(2048) EventControl event[2];
};
static_assert(offsetof(Header, data_bytes) == 16 && offsetof(Header, ring) == 256 && offsetof(Header, event) == 2048);
static_assert(offsetof(RingControl, data_read) == 8 && offsetof(RingControl, reader_parked) == 128 &&
              offsetof(RingControl, writer_parked) == 256 && offsetof(RingControl, waits_by) == 384 &&
              offsetof(RingControl, closed) == 388);
static_assert(sizeof(Header) <= header_bytes);

} // namespace ipc::shared_memory
