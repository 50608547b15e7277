#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "core/registry.hpp"
#include "core/transport.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <windows.h>

// What the tests of Windows' transports share; the twin of core/support.hpp.
namespace ipc::test {

constexpr int32_t forever = -1;

// A name no other test, here or in another process, uses.
inline std::string unique_name() {
    static std::atomic<int> count{0};
    return "t" + std::to_string(GetCurrentProcessId()) + "-s" + std::to_string(++count);
}

inline int64_t elapsed_ms(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since).count();
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

inline Status listen(const std::string& text, std::unique_ptr<FrameListener>* listener) {
    Address address;
    const Transport* transport = nullptr;
    FrameListener* made = nullptr;
    if (Status s = Address::parse(text, &address); s != IPC_OK) return s;
    if (Status s = find_implementation(address.transport(), &transport); s != IPC_OK) return s;
    const Status status = transport->listen(address, &made);
    listener->reset(made);
    return status;
}

inline Status connect(const std::string& text, std::unique_ptr<FrameChannel>* channel, int32_t timeout_ms = 5000) {
    Address address;
    const Transport* transport = nullptr;
    FrameChannel* made = nullptr;
    if (Status s = Address::parse(text, &address); s != IPC_OK) return s;
    if (Status s = find_implementation(address.transport(), &transport); s != IPC_OK) return s;
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

// Both ends of a new connection; null where one could not be made, which fails the test.
inline void connect_pair(FrameListener& listener, std::unique_ptr<FrameChannel>* server,
                         std::unique_ptr<FrameChannel>* client) {
    Status connected = IPC_OK;
    std::string sentence;
    const std::string address = listener.address();
    std::thread connecting([&] {
        connected = connect(address, client);
        sentence = last_error();
    });
    EXPECT_EQ(accept(listener, server), IPC_OK) << last_error();
    connecting.join();
    EXPECT_EQ(connected, IPC_OK) << sentence;
}

inline Status send(FrameChannel& channel, const std::vector<std::byte>& bytes, int32_t timeout_ms = 5000) {
    return channel.send(FrameKind::message, 0, bytes.data(), bytes.size(), Deadline(timeout_ms));
}

inline Status receive(FrameChannel& channel, std::vector<std::byte>* bytes, int32_t timeout_ms = 5000) {
    FrameInfo info{};
    if (Status s = channel.next(&info, Deadline(timeout_ms)); s != IPC_OK) return s;
    bytes->resize(info.length);
    return channel.take(bytes->data(), Deadline(timeout_ms));
}

} // namespace ipc::test
