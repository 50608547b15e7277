#include "watchdog.hpp"

#include "finding.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fuzz {
namespace {

// Ages are counted in looks rather than read from a clock: on a machine that stands still nothing grows old.
constexpr int64_t look_ms = 50;
constexpr int64_t patience_ms = 1000;
// Whoever does not sleep may be waiting for a processor.
constexpr int64_t patience_with_runners_ms = 5000;

} // namespace

pid_t this_thread() {
    return static_cast<pid_t>(syscall(SYS_gettid));
}

bool sleeps(pid_t thread) {
    char path[64], text[256] = {};
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
    // No stream: this thread must never be inside malloc when the process forks.
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    const size_t length = got < 0 ? 0 : static_cast<size_t>(got);
    const char* bracket = nullptr;
    for (const char* c = text; c < text + length; ++c)
        if (*c == ')') bracket = c;
    return bracket != nullptr && bracket[1] == ' ' && bracket[2] == 'S';
}

class Watchdog {
  public:
    static Watchdog& the() {
        static Watchdog* watchdog = new Watchdog; // for good: calls may be watched until the very end
        return *watchdog;
    }
    void add(Watched* watched) {
        const std::lock_guard lock(mutex_);
        all_.push_back(watched);
    }
    void remove(Watched* watched) {
        const std::lock_guard lock(mutex_);
        all_.erase(std::find(all_.begin(), all_.end(), watched));
    }

  private:
    Watchdog() : thread_([this] { run(); }) {}
    void run() {
        while (true) {
            std::this_thread::sleep_for(std::chrono::milliseconds(look_ms));
            const std::lock_guard lock(mutex_);
            for (Watched* watched : all_) watched->look();
        }
    }

    std::mutex mutex_;
    std::vector<Watched*> all_;
    std::thread thread_;
};

Watched::Watched() {
    Watchdog::the().add(this);
}

Watched::~Watched() {
    Watchdog::the().remove(this);
}

void Watched::enter(const char* function, int32_t timeout_ms, const std::atomic<bool>* closing) {
    thread_ = this_thread();
    timeout_ms_ = timeout_ms;
    closing_ = closing;
    ++call_;
    function_ = function;
}

void Watched::leave() {
    function_ = nullptr;
}

void Watched::look() {
    const char* function = function_;
    if (function == nullptr || call_ != looked_at_) {
        looked_at_ = call_;
        age_ms_ = closing_ms_ = 0;
        return;
    }
    age_ms_ += look_ms;
    const std::atomic<bool>* closing = closing_;
    if (closing != nullptr && *closing) closing_ms_ += look_ms;
    const int64_t patience = sleeps(thread_) ? patience_ms : patience_with_runners_ms;
    if (timeout_ms_ >= 0 && age_ms_ > timeout_ms_ + patience)
        finding("%s with a time-out of %d ms has not come back after %lld ms", function, timeout_ms_.load(),
                static_cast<long long>(age_ms_));
    if (closing_ms_ > patience)
        finding("%s has not come back %lld ms after its channel was closed", function,
                static_cast<long long>(closing_ms_));
}

} // namespace fuzz
