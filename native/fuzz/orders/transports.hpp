#pragma once

#include "ipc/ipc.h"

#include <string>

namespace fuzz {

// A transport with options under which much happens in little time: small rings, a low limit, each way of waiting.
struct Variant {
    const char* transport;
    const char* options;
    size_t limit;
    bool arrives_late; // what was sent may still be on its way
};

// All of them, or those of the transport that IPC_FUZZ_TRANSPORT names.
const Variant& variant(uint8_t choice);
// A name that no other process uses.
std::string address_of(const Variant& variant, const char* purpose);
// The listener of a variant, made at its first use and kept.
ipc_listener* listener_of(const Variant& variant);
// How many files this process has open.
size_t open_files();

} // namespace fuzz
