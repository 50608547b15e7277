#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace ipc::peer {

// What this process has cost so far.
struct Usage {
    int64_t cpu_ns = 0; // user and system
    int64_t voluntary_switches = 0;
    int64_t involuntary_switches = 0;
    int64_t minor_faults = 0;
    int64_t major_faults = 0;
    std::optional<uint64_t> memory_bytes; // proportional set size
};

// Everything but the memory: one system call, fit to stand next to a timed region.
Usage read_counters();

// Processor time of the calling thread so far.
int64_t thread_cpu_ns();

// The proportional set size in bytes, which walks the whole address space; nothing if the kernel does not tell.
std::optional<uint64_t> read_memory();

// The fields of a `usage` event. A native process has no managed heap: those fields are null.
nlohmann::ordered_json to_json(const Usage& usage);

} // namespace ipc::peer
