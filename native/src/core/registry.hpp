#pragma once

#include "core/status.hpp"
#include "core/transport.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace ipc {

enum class OptionKind { choice, size, count };

// One option of an address, as registry.json says.
struct OptionEntry {
    const char* name;
    OptionKind kind;
    const char* choices; // comma-separated, for OptionKind::choice; else ""
    const char* default_value;
};

// One transport of registry.json. The table is generated when CMake configures; everything in it is constant.
struct TransportEntry {
    const char* id;
    const char* kind;                     // "channel", "call", "queue", "broadcast"
    const char* platforms;                // comma-separated: "linux,windows"
    const char* largest_message;          // a size, e.g. "2G": the most option max= may ask for
    std::span<const OptionEntry> options; // its own and the common ones
    const char* describe;                 // the entry's JSON text, UTF-8
    const Transport* implementation;      // null if this build has none ...
    const char* why_not;                  // ... and then an error message saying why, unless it is in
    const char* module = "";              // ... a module (core/module.hpp): the file's name; else ""
    const char* module_help = "";         // what to do when that file cannot be loaded
};

// All transports, in the registry's order.
std::span<const TransportEntry> transports();

// The entry of a transport; IPC_UNKNOWN_TRANSPORT with the ones there are.
Status find_transport(std::string_view id, const TransportEntry** entry);

// The entry's implementation, its module loaded if it has one; IPC_NOT_AVAILABLE with the reason.
Status find_implementation(const TransportEntry& entry, const Transport** implementation);

// "64M" -> 67108864: digits and then nothing, k, M or G (powers of 1024). False if it is not that or does not fit.
bool parse_size(std::string_view text, uint64_t* size);
// Digits only. False if it is not that or does not fit.
bool parse_count(std::string_view text, uint64_t* count);

} // namespace ipc
