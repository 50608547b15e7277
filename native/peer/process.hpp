#pragma once

#include <string>

namespace ipc::peer {

// The whole process, and so every thread started later, on one CPU. Throws a Failure when the system refuses.
void pin(int cpu);

// What this program runs on: "native, glibc 2.36".
std::string runtime();

// Before anything else: a runner that is gone shows as the end of standard input; a write to it must not kill the process first.
void outlive_the_runner();

} // namespace ipc::peer
