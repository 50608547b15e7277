#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fuzz {

// A thread that does what it is given, in order. It lives as long as the process: starting one costs more than a step.
class Worker {
  public:
    Worker();
    void give(std::function<void()> task);
    // False if there is still something to do after so long.
    bool wait_idle(int64_t at_most_ms);
    void wait_idle();
    // Waits until there is nothing to do, or what is being done waits without end. Whether it is idle.
    bool wait_idle_or(const std::function<bool()>& waits_without_end);

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool busy_ = false;
    std::thread thread_;
};

} // namespace fuzz
