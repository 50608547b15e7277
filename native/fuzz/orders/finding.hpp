#pragma once

// What the fuzzers report, and what they had done before.
namespace fuzz {

// A fault of the library: prints what was done last and what was wrong, and ends the process for libFuzzer to keep the input.
[[noreturn, gnu::format(printf, 1, 2)]] void finding(const char* format, ...);
// Remembers one step; printed at once with IPC_FUZZ_TRACE=1 in the environment.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...);
void clear_trace();

} // namespace fuzz
