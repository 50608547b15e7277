// The C ABI's publishers and subscribers: checks arguments, keeps exceptions in, and does nothing else.
#include "core/abi_guard.hpp"
#include "core/address.hpp"
#include "core/handle_gate.hpp"
#include "core/registry.hpp"
#include "core/transport.hpp"
#include "ipc/ipc.h"

#include <array>
#include <memory>

using ipc::Deadline;
using ipc::HandleGate;
using ipc::abi::check;
using ipc::abi::check_kind;
using ipc::abi::check_timeout;
using ipc::abi::guarded;
using ipc::abi::quietly;

struct ipc_publisher {
    std::unique_ptr<ipc::BroadcastPublisher> publisher;
    HandleGate gate;
    std::array<HandleGate::Door, 1> door;
};

struct ipc_subscriber {
    std::unique_ptr<ipc::BroadcastSubscriber> subscriber;
    HandleGate gate;
    std::array<HandleGate::Door, 1> door;
};

extern "C" {

ipc_status ipc_publisher_open(const char* address_text, ipc_publisher** publisher) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(address_text != nullptr && publisher != nullptr, "ipc_publisher_open", "an argument is NULL"));
        *publisher = nullptr;
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(check_kind(address, transport->publish != nullptr, "ipc_publisher_open"));
        auto made = std::make_unique<ipc_publisher>();
        ipc::BroadcastPublisher* opened = nullptr;
        IPC_CHECK(transport->publish(address, &opened));
        made->publisher.reset(opened);
        *publisher = made.release();
        return IPC_OK;
    });
}

size_t ipc_publisher_limit(const ipc_publisher* publisher) {
    return publisher ? publisher->publisher->limit() : 0;
}

ipc_status ipc_publisher_subscribers(ipc_publisher* publisher, size_t* count) {
    IPC_CHECK(check(publisher != nullptr && count != nullptr, "ipc_publisher_subscribers", "an argument is NULL"));
    return publisher->gate.pass(
        publisher->door[0],
        [](ipc_publisher* its, size_t* into) noexcept {
            return guarded([&] { return its->publisher->subscribers(into); });
        },
        publisher, count);
}

ipc_status ipc_publish(ipc_publisher* publisher, const void* message, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check(publisher != nullptr, "ipc_publish", "the publisher is NULL"));
    IPC_CHECK(check_timeout(timeout_ms, "ipc_publish"));
    IPC_CHECK(check(message != nullptr || length == 0, "ipc_publish", "the message is NULL but its length is not 0"));
    return publisher->gate.pass(
        publisher->door[0],
        [](ipc_publisher* by, const void* what, size_t bytes, int32_t within_ms) noexcept {
            return guarded([&] { return by->publisher->publish(what, bytes, Deadline(within_ms)); });
        },
        publisher, message, length, timeout_ms);
}

void ipc_publisher_close(ipc_publisher* publisher) {
    if (publisher == nullptr) return;
    const HandleGate::Visit visit(publisher->gate);
    quietly([&] { publisher->publisher->close(); });
}

void ipc_publisher_free(ipc_publisher* publisher) {
    if (publisher == nullptr) return;
    ipc_publisher_close(publisher);
    publisher->gate.await_empty(publisher->door);
    quietly([&] { delete publisher; });
}

ipc_status ipc_subscriber_open(const char* address_text, int32_t timeout_ms, ipc_subscriber** subscriber) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(
            check(address_text != nullptr && subscriber != nullptr, "ipc_subscriber_open", "an argument is NULL"));
        IPC_CHECK(check_timeout(timeout_ms, "ipc_subscriber_open"));
        *subscriber = nullptr;
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(check_kind(address, transport->subscribe != nullptr, "ipc_subscriber_open"));
        auto made = std::make_unique<ipc_subscriber>();
        ipc::BroadcastSubscriber* opened = nullptr;
        IPC_CHECK(transport->subscribe(address, Deadline(timeout_ms), &opened));
        made->subscriber.reset(opened);
        *subscriber = made.release();
        return IPC_OK;
    });
}

ipc_status ipc_subscriber_receive(ipc_subscriber* subscriber, void* buffer, size_t capacity, size_t* length,
                                  uint64_t* lost, int32_t timeout_ms) {
    IPC_CHECK(check(subscriber != nullptr, "ipc_subscriber_receive", "the subscriber is NULL"));
    IPC_CHECK(check_timeout(timeout_ms, "ipc_subscriber_receive"));
    IPC_CHECK(check(length != nullptr && lost != nullptr, "ipc_subscriber_receive", "length or lost is NULL"));
    IPC_CHECK(check(buffer != nullptr || capacity == 0, "ipc_subscriber_receive",
                    "the buffer is NULL but its capacity is not 0"));
    return subscriber->gate.pass(
        subscriber->door[0],
        [](ipc_subscriber* by, void* to, size_t room, size_t* bytes, uint64_t* missed, int32_t within_ms) noexcept {
            return guarded([&] { return by->subscriber->receive(to, room, bytes, missed, Deadline(within_ms)); });
        },
        subscriber, buffer, capacity, length, lost, timeout_ms);
}

void ipc_subscriber_close(ipc_subscriber* subscriber) {
    if (subscriber == nullptr) return;
    const HandleGate::Visit visit(subscriber->gate);
    quietly([&] { subscriber->subscriber->close(); });
}

void ipc_subscriber_free(ipc_subscriber* subscriber) {
    if (subscriber == nullptr) return;
    ipc_subscriber_close(subscriber);
    subscriber->gate.await_empty(subscriber->door);
    quietly([&] { delete subscriber; });
}

} // extern "C"
