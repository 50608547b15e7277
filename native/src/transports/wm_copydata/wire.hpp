#pragma once

#include "win32/wine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// docs/wire-formats.md "Window messages". All numbers are little-endian, as every Windows processor is.
namespace ipc::wm_copydata {

constexpr uint32_t magic = 0x57435049; // IPCW
constexpr uint32_t version = 1;

// 1 to 4 are those of frames.
enum class Kind : uint32_t { message = 1, request = 2, reply = 3, fault = 4, hello = 16, taken = 17, ended = 18 };

struct Token {
    uint32_t words[4];
    bool operator==(const Token&) const = default;
};

// Before each fragment of a payload.
struct Head {
    uint32_t magic;
    uint32_t version;
    Kind kind;
    uint32_t id;     // as in frames
    uint32_t length; // of the whole payload
    uint32_t number; // of the exchange: 1, 2, 3 ...; its answer repeats it
    uint32_t offset; // of this fragment in the payload
    uint32_t zero;
    Token token; // of the connection
};
static_assert(sizeof(Head) == 48);

// A longer payload goes in several messages, in order: not every system takes longer ones (Wine ends at two).
constexpr size_t most_in_fragment = 1024 * 1024;

// How many bytes of the payload go with this head.
inline size_t fragment_length(const Head& head) {
    return std::min<size_t>(head.length - head.offset, win32::most_at_once(most_in_fragment));
}

constexpr auto listener_class = L"ipc.wm-copydata";
constexpr auto session_class = L"ipc.wm-copydata.session";
constexpr auto client_class = L"ipc.wm-copydata.client";

} // namespace ipc::wm_copydata
