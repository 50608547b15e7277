#pragma once

#include "ipc/ipc.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>

namespace ipc::test {

constexpr int32_t patience_ms = 10'000;

// An address nobody else has; for tcp the system chooses.
inline std::string fresh_address(const std::string& transport) {
    static const unsigned process = std::random_device{}();
    static std::atomic<int> count{0};
    if (transport == "tcp") return "tcp://0";
    return transport + "://server-" + std::to_string(process) + "-" + std::to_string(++count);
}

// Waits for what another thread does.
inline bool becomes_true(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

// The status a call fails with; IPC_OK if it does not.
template <class Body>
ipc_status status_of(Body body) {
    try {
        body();
        return IPC_OK;
    } catch (const Error& e) {
        return e.status();
    }
}

inline const char* const channel_transports[] = {
#if !defined(_WIN32)
    "unix", "fifo",
#endif
    "pipe", "tcp",  "shm", "shm-event",
};

inline std::string transport_name(const testing::TestParamInfo<const char*>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

} // namespace ipc::test
