#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "core/registry.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

// What tests of channels need on every system.
namespace ipc::test {

constexpr int32_t forever = -1;

// A name no other test, here or in another process, uses.
inline std::string unique_name() {
    static const unsigned process = std::random_device{}();
    static std::atomic<int> count{0};
    return "core-" + std::to_string(process) + "-" + std::to_string(++count);
}

inline std::string unique_address(const std::string& transport, const std::string& options = {}) {
    return transport + "://" + unique_name() + options;
}

// Content that differs in every position and with every seed.
inline std::vector<std::byte> pattern(size_t length, unsigned seed = 1) {
    std::vector<std::byte> bytes(length);
    uint32_t state = seed * 2654435761u + 1;
    for (std::byte& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

class Stopwatch {
  public:
    int64_t ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The least of the times in ms that `round` puts into its argument: of three rounds, and of up to ten while none keeps to `promised_ms`,
// because a busy machine may keep a thread waiting for its processor.
template <class Round>
int64_t quickest_ms(int64_t promised_ms, Round round) {
    int64_t quickest = INT64_MAX;
    for (int i = 0; i < 3 || (i < 10 && quickest >= promised_ms); ++i) {
        int64_t took_ms = INT64_MAX;
        round(took_ms);
        quickest = std::min(quickest, took_ms);
    }
    return quickest;
}

inline Status listen(const std::string& text, std::unique_ptr<FrameListener>* listener) {
    Address address;
    const Transport* transport = nullptr;
    FrameListener* made = nullptr;
    if (Status status = Address::parse(text, &address); status != IPC_OK) return status;
    if (Status status = find_implementation(address.transport(), &transport); status != IPC_OK) return status;
    const Status status = transport->listen(address, &made);
    listener->reset(made);
    return status;
}

inline Status connect(const std::string& text, std::unique_ptr<FrameChannel>* channel, int32_t timeout_ms = 5000) {
    Address address;
    const Transport* transport = nullptr;
    FrameChannel* made = nullptr;
    if (Status status = Address::parse(text, &address); status != IPC_OK) return status;
    if (Status status = find_implementation(address.transport(), &transport); status != IPC_OK) return status;
    const Status status = transport->connect(address, Deadline(timeout_ms), &made);
    channel->reset(made);
    return status;
}

inline Status accept(FrameListener& listener, std::unique_ptr<FrameChannel>* channel, int32_t timeout_ms = 5000) {
    FrameChannel* made = nullptr;
    const Status status = listener.accept(Deadline(timeout_ms), &made);
    channel->reset(made);
    return status;
}

inline Status send(FrameChannel& channel, const std::vector<std::byte>& bytes, int32_t timeout_ms = 5000) {
    return channel.send(FrameKind::message, 0, bytes.data(), bytes.size(), Deadline(timeout_ms));
}

inline Status receive(FrameChannel& channel, std::vector<std::byte>* bytes, int32_t timeout_ms = 5000) {
    FrameInfo info{};
    if (Status status = channel.next(&info, Deadline(timeout_ms)); status != IPC_OK) return status;
    bytes->resize(info.length);
    return channel.take(bytes->data(), Deadline(timeout_ms));
}

} // namespace ipc::test
