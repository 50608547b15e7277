#include "usage.hpp"

#include <windows.h>
// After windows.h.
#include <psapi.h>

namespace ipc::peer {
namespace {

int64_t nanoseconds(const FILETIME& time) {
    constexpr int64_t unit = 100;
    return ((int64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime) * unit;
}

PROCESS_MEMORY_COUNTERS_EX memory_counters() {
    PROCESS_MEMORY_COUNTERS_EX counters{};
    GetProcessMemoryInfo(GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters), sizeof counters);
    return counters;
}

} // namespace

// Windows counts neither switches by process nor hard faults apart.
Usage read_counters() {
    FILETIME begun, ended, kernel, user;
    GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user);
    return {.cpu_ns = nanoseconds(kernel) + nanoseconds(user),
            .voluntary_switches = 0,
            .involuntary_switches = 0,
            .minor_faults = static_cast<int64_t>(memory_counters().PageFaultCount),
            .major_faults = 0,
            .memory_bytes = std::nullopt};
}

int64_t thread_cpu_ns() {
    FILETIME begun, ended, kernel, user;
    GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user);
    return nanoseconds(kernel) + nanoseconds(user);
}

// The private bytes: the nearest to a proportional set that Windows gives for one process.
std::optional<uint64_t> read_memory() {
    const auto counters = memory_counters();
    if (counters.PrivateUsage == 0) return std::nullopt;
    return counters.PrivateUsage;
}

} // namespace ipc::peer
