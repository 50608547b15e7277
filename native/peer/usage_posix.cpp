#include "usage.hpp"

#include <fstream>
#include <string>
#include <sys/resource.h>
#include <time.h>

namespace ipc::peer {
namespace {

int64_t nanoseconds(const timeval& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1'000;
}

} // namespace

Usage read_counters() {
    rusage counters{};
    getrusage(RUSAGE_SELF, &counters);
    return {.cpu_ns = nanoseconds(counters.ru_utime) + nanoseconds(counters.ru_stime),
            .voluntary_switches = counters.ru_nvcsw,
            .involuntary_switches = counters.ru_nivcsw,
            .minor_faults = counters.ru_minflt,
            .major_faults = counters.ru_majflt,
            .memory_bytes = std::nullopt};
}

int64_t thread_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<uint64_t> read_memory() {
    std::ifstream file("/proc/self/smaps_rollup");
    std::string word;
    uint64_t kilobytes = 0;
    while (file >> word)
        if (word == "Pss:" && file >> kilobytes) return kilobytes * 1024;
    return std::nullopt;
}

} // namespace ipc::peer
