#include "core/registry.hpp"

namespace ipc {

// A module is handed addresses that libipc has read, with libipc's entries in them; it never looks one up itself.
std::span<const TransportEntry> transports() { return {}; }

} // namespace ipc
