#include "core/module.hpp"
#include "core/registry.hpp"

namespace ipc {

// No module has a Windows half yet; the one that comes first brings LoadLibrary here.
Status load_module(const TransportEntry& entry, const Transport**) {
    return fail(IPC_NOT_AVAILABLE, "transport '%s' is in the module %s, and modules are not loaded on Windows yet",
                entry.id, entry.module);
}

} // namespace ipc
