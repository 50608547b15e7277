#pragma once

#include "core/status.hpp"
#include "core/transport.hpp"

#include <cstdint>

namespace ipc {

struct TransportEntry; // registry.hpp

// A transport that needs a foreign library is a shared library of its own, libipc-<id>.so beside libipc, loaded when the
// transport is first asked for. Both are built from this tree in one build: classes cross the border, so the build must be
// the same, which both sides check before anything else.

// Raised when one of the two structures below changes. Their first two members never do.
inline constexpr uint32_t module_abi = 2;

// What libipc gives a module.
struct ModuleHost {
    uint32_t abi;
    const char* build; // IPC_MODULE_BUILD of the library
    void (*keep_error_message)(const char* text);
    const char* (*last_error)();
};

// What a module gives libipc; null from its entry if the host is not of its own build.
struct Module {
    uint32_t abi;
    const char* build; // IPC_MODULE_BUILD of the module
    const Transport* transport;
};

// The one function a module exports, under this name. Called once per process before anything else of the module's.
inline constexpr const char* module_entry_name = "ipc_module_transport";
using ModuleEntry = const Module* (*)(const ModuleHost* host);

// The transport in an entry's module, loaded at the first call. Any thread may call. IPC_NOT_AVAILABLE with where the module
// was looked for and what was wrong; a later call looks again, so that a package can be installed meanwhile.
Status load_module(const TransportEntry& entry, const Transport** transport);

} // namespace ipc
