#include "ping_pong.hpp"

#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace floors {

void pin_to(int cpu) {
    if (cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot pin to CPU " + std::to_string(cpu));
}

Shared::Shared(size_t bytes) : size_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map shared memory");
    bytes_ = static_cast<char*>(memory);
}

Shared::~Shared() {
    munmap(bytes_, size_);
}

Partner::Partner(int cpu, std::function<void()> work) {
    process_ = fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        pin_to(cpu);
        work();
    } catch (...) {
        _exit(1);
    }
    _exit(0);
}

Partner::~Partner() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    join();
}

bool Partner::join() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return status == 0;
}

} // namespace floors
