#include "ping_pong.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace floors {

void pin_to(int cpu) {
    if (cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot pin to CPU " + std::to_string(cpu));
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

Shared::Shared(size_t bytes) : size_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map shared memory");
    bytes_ = static_cast<char*>(memory);
}

Shared::~Shared() {
    munmap(bytes_, size_);
}

// The median read between the steps of the clock, exactly as the lab reads its cells': docs/measurement.md.
static double median(std::vector<int64_t> samples) {
    std::sort(samples.begin(), samples.end());
    const auto rank = static_cast<ptrdiff_t>((samples.size() + 1) / 2 - 1);
    const int64_t value = samples[static_cast<size_t>(rank)];
    const auto [first, end] = std::equal_range(samples.begin(), samples.end(), value);
    if (end - first == 1) return static_cast<double>(value);
    const auto middle = [value](int64_t other) { return static_cast<double>(value + other) / 2; };
    const double low = first != samples.begin() ? middle(first[-1]) : middle(value);
    const double high = end != samples.end() ? middle(*end) : middle(value);
    const double share = (static_cast<double>(rank - (first - samples.begin())) + 0.5) / static_cast<double>(end - first);
    return low + (high - low) * share;
}

double median_rtt_ns(const Setup& setup, const std::function<void()>& serve, const std::function<void()>& exchange,
                     const std::function<void()>& stop) {
    pid_t server = fork();
    if (server < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        try {
            pin_to(setup.server_cpu);
            serve();
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    pin_to(setup.client_cpu);
    const auto budget = static_cast<int64_t>(setup.seconds * 1e9);
    for (int64_t end = now_ns() + static_cast<int64_t>(setup.warmup_seconds * 1e9); now_ns() < end;) exchange();
    std::vector<int64_t> samples;
    samples.reserve(1 << 20);
    for (int64_t end = now_ns() + budget;;) {
        int64_t before = now_ns();
        exchange();
        int64_t after = now_ns();
        samples.push_back(after - before);
        if (after >= end) break;
    }
    stop();
    int status = 0;
    waitpid(server, &status, 0);
    if (status != 0) throw std::runtime_error("the answering process of a floor failed");
    return median(std::move(samples));
}

} // namespace floors
