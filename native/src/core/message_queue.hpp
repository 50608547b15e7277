#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"

#include <cstddef>

namespace ipc {

// One way, many writers, many readers, each message to one reader: what transports of kind "queue" implement.
// Any thread may call any function at any time; the destructor comes when nobody is inside. Every function leaves its
// failure's error message with fail(). Twin of managed IpcQueue; semantics are those of ipc_queue_* in ipc.h.
class MessageQueue {
  public:
    MessageQueue() = default;
    virtual ~MessageQueue() = default;
    MessageQueue(const MessageQueue&) = delete;
    MessageQueue& operator=(const MessageQueue&) = delete;

    virtual size_t limit() const = 0; // bytes of the largest message it takes
    // `length` may be anything: checks it against limit().
    virtual Status enqueue(const void* message, size_t length, const Deadline& deadline) = 0;
    virtual Status dequeue(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) = 0;
    // Interrupts everything on this handle with IPC_CLOSED; the queue itself goes on.
    virtual void close() = 0;
};

} // namespace ipc
