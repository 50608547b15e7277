#pragma once

#include <cstddef>
#include <cstdint>

// docs/wire-formats.md "Mailslots". All numbers are little-endian, as every Windows processor is.
namespace ipc::mailslot {

constexpr uint32_t magic = 0x4C435049; // IPCL
constexpr uint32_t version = 1;

constexpr size_t token_length = 32;

// Hello, welcome and confirmation.
struct Handshake {
    uint32_t magic;
    uint32_t version;
    uint32_t process; // the sender's
    uint32_t zero;
    char token[token_length]; // lower-case hexadecimal digits
    char rest[16];            // 0
};
static_assert(sizeof(Handshake) == 64);

enum class Kind : uint32_t { fragment = 1, end = 2, read = 3 };

// Ends a fragment of the stream; alone it is a message of its own.
struct Trailer {
    uint32_t magic;
    Kind kind;
    uint64_t number; // of the fragment, from 1; of the last one that was read
};
static_assert(sizeof(Trailer) == 16);

constexpr size_t most_in_fragment = 16 * 1024;
constexpr size_t most_in_message = most_in_fragment + sizeof(Trailer);
// So many fragments may be unread; the reader tells each time it has read so many.
constexpr uint64_t window = 8;
constexpr uint64_t told_after = 4;

} // namespace ipc::mailslot
