#include "finding.hpp"

#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace fuzz {
namespace {

constexpr size_t kept = 200;
using Line = std::array<char, 200>;

std::mutex mutex;
std::array<Line, kept> lines;
size_t count = 0;
std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

void print_trace() {
    std::fprintf(stderr, "---- what was done, latest last\n");
    for (size_t i = count > kept ? count - kept : 0; i < count; ++i)
        std::fprintf(stderr, "%s\n", lines[i % kept].data());
}

} // namespace

// Asked for by the sanitizer when it starts: less memory that waits for its reuse makes forking cheaper.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() {
    return "quarantine_size_mb=32";
}

void finding(const char* format, ...) {
    const std::lock_guard lock(mutex);
    print_trace();
    std::fprintf(stderr, "---- FINDING: ");
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "\n");
    std::abort();
}

void trace(const char* format, ...) {
    static const bool at_once = std::getenv("IPC_FUZZ_TRACE") != nullptr;
    const std::lock_guard lock(mutex);
    Line& line = lines[count++ % kept];
    const double now = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const int used = std::snprintf(line.data(), line.size(), "%9.3f ms  ", now);
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line.data() + used, line.size() - static_cast<size_t>(used), format, arguments);
    va_end(arguments);
    if (at_once) std::fprintf(stderr, "%s\n", line.data());
}

void clear_trace() {
    const std::lock_guard lock(mutex);
    count = 0;
    start = std::chrono::steady_clock::now();
}

} // namespace fuzz
