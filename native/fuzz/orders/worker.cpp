#include "worker.hpp"

#include <chrono>

namespace fuzz {

Worker::Worker() : thread_([this] { run(); }) {
    thread_.detach();
}

void Worker::give(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
}

bool Worker::wait_idle(int64_t at_most_ms) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(at_most_ms), [this] { return !busy_ && tasks_.empty(); });
}

void Worker::wait_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_ && tasks_.empty(); });
}

bool Worker::wait_idle_or(const std::function<bool()>& waits_without_end) {
    while (!wait_idle(20))
        if (waits_without_end()) return wait_idle(20);
    return true;
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return !tasks_.empty(); });
        {
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            busy_ = true;
            lock.unlock();
            task();
        }
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

} // namespace fuzz
