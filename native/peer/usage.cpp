#include "usage.hpp"

#include <nlohmann/json.hpp>

namespace ipc::peer {

nlohmann::ordered_json to_json(const Usage& usage) {
    nlohmann::ordered_json object{{"cpu_ns", usage.cpu_ns},
                                  {"voluntary_switches", usage.voluntary_switches},
                                  {"involuntary_switches", usage.involuntary_switches},
                                  {"minor_faults", usage.minor_faults},
                                  {"major_faults", usage.major_faults},
                                  {"memory_bytes", nullptr},
                                  {"allocated_bytes", nullptr},
                                  {"collections", nullptr},
                                  {"compiled_methods", nullptr}};
    if (usage.memory_bytes) object["memory_bytes"] = *usage.memory_bytes;
    return object;
}

} // namespace ipc::peer
