#pragma once

#include "../core/support.hpp"
#include "core/message_queue.hpp"
#include "transports/queue/queue_file.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace ipc::test {

inline constexpr int32_t patience = 10'000;

inline const Transport& queue_transport() {
    const TransportEntry* entry = nullptr;
    const Transport* transport = nullptr;
    if (find_transport("queue", &entry) != IPC_OK || find_implementation(*entry, &transport) != IPC_OK) std::abort();
    return *transport;
}

inline Status open_queue(const std::string& text, std::unique_ptr<MessageQueue>* queue) {
    Address address;
    MessageQueue* opened = nullptr;
    if (Status s = Address::parse(text, &address)) return s;
    const Status status = queue_transport().open_queue(address, Deadline(patience), &opened);
    queue->reset(opened);
    return status;
}

inline Status remove_queue(const std::string& text) {
    Address address;
    if (Status s = Address::parse(text, &address)) return s;
    return queue_transport().remove_queue(address);
}

// A queue's name nobody else has; the queue goes with this object.
class QueueName {
  public:
    QueueName() {
        static std::atomic<int> count{0};
        name_ = "queue-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    }
    ~QueueName() { unlink(path().c_str()); }
    QueueName(const QueueName&) = delete;
    QueueName& operator=(const QueueName&) = delete;

    std::string address(const std::string& options = "") const {
        return "queue://" + name_ + (options.empty() ? "" : "?" + options);
    }
    static std::string folder() { return posix::memory_folder(); }
    std::string path() const { return folder() + "/queue-" + name_; }

    std::unique_ptr<MessageQueue> open(const std::string& options = "") const {
        std::unique_ptr<MessageQueue> queue;
        EXPECT_EQ(open_queue(address(options), &queue), IPC_OK) << last_error();
        return queue;
    }
    // A hand on the memory itself, as a participant of its own.
    std::unique_ptr<queue::QueueFile> open_file(uint32_t size = 64 * 1024) const {
        Address parsed;
        std::unique_ptr<queue::QueueFile> file;
        EXPECT_EQ(Address::parse(address(), &parsed), IPC_OK);
        EXPECT_EQ(queue::QueueFile::open(parsed, size, &file), IPC_OK) << last_error();
        return file;
    }

  private:
    std::string name_;
};

inline Status put(MessageQueue& queue, const std::vector<std::byte>& message, int32_t timeout_ms = patience) {
    return queue.enqueue(message.data(), message.size(), Deadline(timeout_ms));
}
inline Status put(MessageQueue& queue, const std::string& message, int32_t timeout_ms = patience) {
    return queue.enqueue(message.data(), message.size(), Deadline(timeout_ms));
}
// The next message, or its status in brackets.
inline std::string take(MessageQueue& queue, int32_t timeout_ms = 0) {
    char buffer[4096];
    size_t length = 0;
    const Status status = queue.dequeue(buffer, sizeof buffer, &length, Deadline(timeout_ms));
    return status == IPC_OK ? std::string(buffer, length) : "(" + std::to_string(status) + ")";
}
inline std::string refused(Status status) {
    return "(" + std::to_string(status) + ")";
}

// A message that tells what it is and can be checked: who wrote it, its number, then bytes that follow from both.
struct Numbered {
    static constexpr size_t longest = 300;
    uint32_t writer;
    uint32_t number;

    size_t length() const { return 8 + (number * 7 + writer) % (longest - 8); }
    std::byte content(size_t at) const {
        return static_cast<std::byte>((number * 2654435761u + writer * 40503u + at * 131u) >> 8);
    }
    size_t write(std::byte* to) const {
        std::memcpy(to, &writer, 4);
        std::memcpy(to + 4, &number, 4);
        for (size_t at = 8; at < length(); ++at) to[at] = content(at);
        return length();
    }
    // False if the bytes are no whole message of this kind.
    static bool read(const std::byte* from, size_t length, Numbered* message) {
        if (length < 8) return false;
        std::memcpy(&message->writer, from, 4);
        std::memcpy(&message->number, from + 4, 4);
        if (length != message->length()) return false;
        for (size_t at = 8; at < length; ++at)
            if (from[at] != message->content(at)) return false;
        return true;
    }
};

} // namespace ipc::test
