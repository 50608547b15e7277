#pragma once

#include "core/status.hpp"
#include "shared_memory/layout.hpp"

namespace ipc::shared_memory {

// What the server says first, on every system.
struct Greeting {
    uint32_t magic;
    uint32_t version;
    uint32_t layout;
    uint32_t zero;
};
static_assert(sizeof(Greeting) == 16);

inline Greeting greeting_of(Layout layout) {
    return {handover_magic, version_of(layout), static_cast<uint32_t>(layout), 0};
}

inline Status check(const Greeting& greeting, Layout layout) {
    const Greeting due = greeting_of(layout);
    if (greeting.magic != due.magic || greeting.layout != due.layout)
        return fail(IPC_NOT_OUR_PROTOCOL, "what listens there is not this transport's server: check the address");
    if (greeting.version != due.version)
        return fail(
            IPC_NOT_OUR_PROTOCOL,
            "the server speaks version %u of this transport and this process version %u: use the same release of ipc "
            "at both ends",
            greeting.version, due.version);
    return IPC_OK;
}

} // namespace ipc::shared_memory
