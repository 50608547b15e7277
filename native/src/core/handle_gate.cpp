#include "core/handle_gate.hpp"

#include "core/process_fence.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ipc {

void HandleGate::await_empty(const Door* doors, size_t count) {
    fence_all_threads();
    const auto inside = [&] {
        return beside_.load(std::memory_order_acquire) != 0 || std::any_of(doors, doors + count, [](const Door& door) {
                   return door.inside.load(std::memory_order_acquire) != 0;
               });
    };
    constexpr int yields = 100;
    for (int looks = 0; inside(); ++looks) {
        if (looks < yields)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

} // namespace ipc
