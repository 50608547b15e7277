#include "core/module.hpp"
#include "core/registry.hpp"

namespace ipc {

Status find_implementation(const TransportEntry& entry, const Transport** implementation) {
    if (entry.implementation == nullptr && entry.module[0] != '\0') return load_module(entry, implementation);
    if (entry.implementation == nullptr) return fail(IPC_NOT_AVAILABLE, "%s", entry.why_not);
    *implementation = entry.implementation;
    return IPC_OK;
}

} // namespace ipc
