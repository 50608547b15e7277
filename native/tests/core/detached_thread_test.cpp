#include "core/detached_thread.hpp"

#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>

namespace ipc {
namespace {

// Short threads that end while, or before, the one that started them goes on: what std::thread's detach() does not bear everywhere.
TEST(DetachedThread, EachOfManyShortOnesRuns) {
    constexpr int rounds = 5000;
    std::mutex mutex;
    std::condition_variable changed;
    int ran = 0;
    for (int round = 1; round <= rounds; ++round) {
        start_detached([&] {
            const std::lock_guard lock(mutex);
            ++ran;
            changed.notify_all();
        });
        std::unique_lock lock(mutex);
        ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return ran == round; }))
            << "thread " << round << " of " << rounds << " has not run";
    }
}

TEST(DetachedThread, OwnsItsBodyUntilItHasRun) {
    auto whole = std::make_shared<int>(42);
    std::mutex mutex;
    std::condition_variable changed;
    int seen = 0;
    start_detached([mine = std::make_unique<std::shared_ptr<int>>(whole), &mutex, &changed, &seen] {
        const std::lock_guard lock(mutex);
        seen = **mine;
        changed.notify_all();
    });
    {
        std::unique_lock lock(mutex);
        ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return seen != 0; }));
    }
    EXPECT_EQ(seen, 42);
    for (int i = 0; i < 2000 && whole.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(whole.use_count(), 1) << "the body is still there after the thread";
}

} // namespace
} // namespace ipc
