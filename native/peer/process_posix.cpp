#include "failure.hpp"
#include "process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <gnu/libc-version.h>
#include <sched.h>

namespace ipc::peer {

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail_bad_cell("this process cannot be pinned to CPU " + std::to_string(cpu) + " (" + std::strerror(errno) +
                      "): choose one that `nproc --all` and taskset allow, or none");
}

std::string runtime() {
    return std::string("native, glibc ") + gnu_get_libc_version();
}

void outlive_the_runner() {
    std::signal(SIGPIPE, SIG_IGN);
}

} // namespace ipc::peer
