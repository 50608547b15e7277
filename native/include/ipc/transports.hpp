// transports.hpp - a part of ipc.hpp, which includes it: which transports the library that is loaded knows.
#ifndef IPC_TRANSPORTS_HPP
#define IPC_TRANSPORTS_HPP

#include "ipc/ipc.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ipc {

// The first words of addresses, in the registry's order; also of transports that exist on other systems only.
inline std::vector<std::string_view> transport_ids() {
    const int32_t count = ipc_transport_count();
    std::vector<std::string_view> all;
    all.reserve(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) all.emplace_back(ipc_transport_id(i));
    return all;
}

// One transport's registry entry as JSON text (UTF-8): its systems, options and limits. Empty if there is no such transport.
inline std::string_view describe_transport(const std::string& transport) {
    const char* const entry = ipc_transport_describe(transport.c_str());
    return entry ? std::string_view(entry) : std::string_view();
}

} // namespace ipc

#endif
