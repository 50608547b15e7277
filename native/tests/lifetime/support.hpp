#pragma once

#include "ipc/ipc.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#if !defined(_WIN32)
#    include <fstream>
#    include <unistd.h>
#endif

namespace lifetime {

constexpr int32_t patience_ms = 10'000;

// How often the races are run: a few hundred times in every run of the suite, as often as wanted by hand.
inline int rounds(int unless_told) {
    const char* told = std::getenv("IPC_STRESS_ROUNDS");
    return told != nullptr ? std::atoi(told) : unless_told;
}

// An address that no other test, here or in another process, uses.
inline std::string address_of(const std::string& transport) {
    static const unsigned process = std::random_device{}();
    static std::atomic<int> count{0};
    if (transport == "tcp") return "tcp://127.0.0.1:0";
    std::string address = transport + "://lifetime-" + std::to_string(process) + "-" + std::to_string(++count);
    return transport == "shm" ? address + "?size=64k" : transport == "shm-event" ? address + "?max=4M" : address;
}

// The transports of a kind that work here. Not those of a daemon (iceoryx), which the conformance suite starts: a RouDi that ends, ends
// all that use it.
inline std::vector<std::string> transports(std::string_view kind) {
    std::vector<std::string> all;
    for (int32_t i = 0; i < ipc_transport_count(); ++i) {
        const std::string id = ipc_transport_id(i);
        std::string entry = ipc_transport_describe(id.c_str());
        std::erase(entry, ' ');
        if (entry.find("\"kind\":\"" + std::string(kind) + "\"") == std::string::npos) continue;
        if (entry.find("\"daemon\":") != std::string::npos) continue;
        ipc_listener* listener = nullptr;
        if (ipc_listen(address_of(id).c_str(), &listener) == IPC_OK) all.push_back(id);
        ipc_listener_free(listener);
    }
    return all;
}

inline std::string name_of(const testing::TestParamInfo<std::string>& instance) {
    std::string name = instance.param;
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
}

// Two ends in one process; whoever frees one takes it out.
struct Pair {
    explicit Pair(ipc_listener* listener) {
        std::thread accepting([&] { accepted = ipc_accept(listener, patience_ms, &server); });
        connected = ipc_connect(ipc_listener_address(listener), patience_ms, &client);
        accepting.join();
        EXPECT_EQ(connected, IPC_OK) << ipc_last_error();
        EXPECT_EQ(accepted, IPC_OK);
    }
    ~Pair() {
        ipc_channel_free(client);
        ipc_channel_free(server);
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    bool good() const { return connected == IPC_OK && accepted == IPC_OK; }

    ipc_channel* client = nullptr;
    ipc_channel* server = nullptr;
    ipc_status connected = IPC_SYSTEM;
    ipc_status accepted = IPC_SYSTEM;
};

class OverTransports : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        ASSERT_EQ(ipc_listen(address_of(GetParam()).c_str(), &listener_), IPC_OK) << ipc_last_error();
    }
    void TearDown() override { ipc_listener_free(listener_); }

    ipc_listener* listener_ = nullptr;
};

// Knows when another thread's call blocks: when the system says that the thread sleeps. Time alone proves nothing on a busy machine.
class Blocking {
  public:
    // By that thread, right before the call; there must be nothing in between for which it could sleep.
    void going_in() {
#if defined(_WIN32)
        thread_ = 1;
#else
        thread_ = gettid();
#endif
    }
    // By the same thread, if it calls again and again until one call blocks: after each that did not.
    void came_back() {
        ++returned_;
    }
    // `again`: whether it calls again and again.
    void await([[maybe_unused]] bool again = false) const {
        while (thread_ == 0) std::this_thread::yield();
#if defined(_WIN32)
        // Windows tells nobody what a thread does, so it blocks if no call has come back for some time. Of a message of megabytes that still
        // goes out, Wine may need tens of milliseconds.
        const std::chrono::milliseconds quiet(again ? 250 : 20);
        for (int seen = -1; seen != returned_;) {
            seen = returned_;
            std::this_thread::sleep_for(quiet);
        }
#else
        const std::string file = "/proc/self/task/" + std::to_string(thread_) + "/stat";
        std::string line;
        do {
            std::this_thread::yield();
            std::ifstream stat(file);
            std::getline(stat, line);
        } while (line.rfind(") S ") == std::string::npos);
#endif
    }

  private:
    std::atomic<int> thread_{0};
    std::atomic<int> returned_{0};
};

class Stopwatch {
  public:
    int64_t ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace lifetime
