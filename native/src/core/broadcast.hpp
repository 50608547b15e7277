#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"

#include <cstddef>
#include <cstdint>

namespace ipc {

// One publisher, many subscribers, each message to all: what transports of kind "broadcast" implement. One thread at a time
// uses each; close() comes from any thread. Semantics are those of ipc_publisher_* and ipc_subscriber_* in ipc.h.
class BroadcastPublisher {
  public:
    BroadcastPublisher() = default;
    virtual ~BroadcastPublisher() = default;
    BroadcastPublisher(const BroadcastPublisher&) = delete;
    BroadcastPublisher& operator=(const BroadcastPublisher&) = delete;

    virtual size_t limit() const = 0;
    virtual Status subscribers(size_t* count) = 0;
    // `length` may be anything: checks it against limit().
    virtual Status publish(const void* message, size_t length, const Deadline& deadline) = 0;
    virtual void close() = 0;
};

class BroadcastSubscriber {
  public:
    BroadcastSubscriber() = default;
    virtual ~BroadcastSubscriber() = default;
    BroadcastSubscriber(const BroadcastSubscriber&) = delete;
    BroadcastSubscriber& operator=(const BroadcastSubscriber&) = delete;

    virtual Status receive(void* buffer, size_t capacity, size_t* length, uint64_t* lost, const Deadline& deadline) = 0;
    virtual void close() = 0;
};

} // namespace ipc
