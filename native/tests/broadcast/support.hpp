#pragma once

#include "../core/support.hpp"
#include "core/broadcast.hpp"
#include "posix/names.hpp"
#include "transports/broadcast/ring_publisher_posix.hpp"
#include "transports/broadcast/ring_subscriber_posix.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ipc::test {

constexpr int32_t patience_ms = 20'000; // long enough for a loaded machine, short enough that a hang is noticed

inline std::string fresh_address(const std::string& options = "") {
    return "broadcast://" + unique_name() + (options.empty() ? "" : "?" + options);
}

inline std::string path_of(const std::string& address) {
    return private_folder() + "/broadcast-" + address.substr(12, address.find('?') - 12);
}

inline std::string with(const std::string& address, const std::string& options) {
    return address + (address.find('?') == std::string::npos ? "?" : "&") + options;
}

inline Status publish_at(const std::string& text, std::unique_ptr<BroadcastPublisher>* publisher) {
    Address address;
    const Transport* transport = nullptr;
    BroadcastPublisher* made = nullptr;
    if (Status s = Address::parse(text, &address)) return s;
    if (Status s = find_implementation(address.transport(), &transport)) return s;
    const Status status = transport->publish(address, &made);
    publisher->reset(made);
    return status;
}

inline Status subscribe_to(const std::string& text, std::unique_ptr<BroadcastSubscriber>* subscriber,
                           int32_t timeout_ms = patience_ms) {
    Address address;
    const Transport* transport = nullptr;
    BroadcastSubscriber* made = nullptr;
    if (Status s = Address::parse(text, &address)) return s;
    if (Status s = find_implementation(address.transport(), &transport)) return s;
    const Status status = transport->subscribe(address, Deadline(timeout_ms), &made);
    subscriber->reset(made);
    return status;
}

inline std::unique_ptr<BroadcastPublisher> publisher_at(const std::string& address) {
    std::unique_ptr<BroadcastPublisher> publisher;
    EXPECT_EQ(IPC_OK, publish_at(address, &publisher)) << last_error();
    return publisher;
}

inline std::unique_ptr<BroadcastSubscriber> subscriber_of(const std::string& address) {
    std::unique_ptr<BroadcastSubscriber> subscriber;
    EXPECT_EQ(IPC_OK, subscribe_to(address, &subscriber)) << last_error();
    return subscriber;
}

// Message `index`, whose length and bytes follow from the index alone: 8 bytes of index, then up to `spread` more.
inline std::vector<std::byte> message_of(uint64_t index, size_t spread) {
    uint64_t state = index * 0x9E3779B97F4A7C15u + 1;
    std::vector<std::byte> bytes(8 + (state >> 33) % (spread + 1));
    std::memcpy(bytes.data(), &index, 8);
    for (size_t i = 8; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    return bytes;
}

// The index of a message that came whole, or -1.
inline int64_t index_of(const std::byte* bytes, size_t length, size_t spread) {
    uint64_t index = 0;
    if (length < 8) return -1;
    std::memcpy(&index, bytes, 8);
    const auto expected = message_of(index, spread);
    return expected.size() == length && std::memcmp(expected.data(), bytes, length) == 0 ? static_cast<int64_t>(index)
                                                                                         : -1;
}

inline Status publish(BroadcastPublisher& publisher, const std::vector<std::byte>& bytes,
                      int32_t timeout_ms = patience_ms) {
    return publisher.publish(bytes.data(), bytes.size(), Deadline(timeout_ms));
}

struct Received {
    Status status;
    std::vector<std::byte> bytes;
    uint64_t lost;
};

inline Received receive(BroadcastSubscriber& subscriber, int32_t timeout_ms = patience_ms, size_t capacity = 1 << 20) {
    Received received{IPC_OK, std::vector<std::byte>(capacity), 99};
    size_t length = 77;
    received.status =
        subscriber.receive(received.bytes.data(), capacity, &length, &received.lost, Deadline(timeout_ms));
    received.bytes.resize(received.status == IPC_OK ? length : 0);
    return received;
}

inline bool eventually(const std::function<bool()>& condition) {
    const Stopwatch watch;
    while (!condition()) {
        if (watch.ms() > patience_ms) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

inline size_t subscribers_of(BroadcastPublisher& publisher) {
    size_t count = 0;
    EXPECT_EQ(IPC_OK, publisher.subscribers(&count));
    return count;
}

} // namespace ipc::test
