#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace fuzz {

// The system's number of the calling thread, and whether a thread sleeps in the system.
pid_t this_thread();
bool sleeps(pid_t thread);

// One thread's call into the library, watched: one that lasts a second longer than its time-out, or than the closing of its
// handle, is a finding.
class Watched {
  public:
    Watched();
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    // `closing`: set while the handle is being closed, or null; outlives the call.
    void enter(const char* function, int32_t timeout_ms, const std::atomic<bool>* closing);
    void leave();
    bool inside() const { return function_.load() != nullptr; }
    bool waits_without_end() const { return inside() && timeout_ms_ < 0; }
    pid_t thread() const { return thread_.load(); }

  private:
    friend class Watchdog;
    void look();

    std::atomic<const char*> function_{nullptr};
    std::atomic<const std::atomic<bool>*> closing_{nullptr};
    std::atomic<int32_t> timeout_ms_{0};
    std::atomic<pid_t> thread_{0};
    std::atomic<uint32_t> call_{0};
    // the watchdog's own
    uint32_t looked_at_ = 0;
    int64_t age_ms_ = 0;
    int64_t closing_ms_ = 0;
};

} // namespace fuzz
