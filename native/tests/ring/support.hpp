#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "core/registry.hpp"
#include "transports/ring/ring_queue.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ipc::ring::test {

constexpr int32_t patience_ms = 10'000;

inline std::string unique_name() {
    static std::atomic<int> count{0};
    return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}
inline std::string path_of(const std::string& name) {
    return ring_folder() + "/ring-" + name;
}
inline bool exists(const std::string& name) {
    struct stat status {};
    return lstat(path_of(name).c_str(), &status) == 0;
}

inline Status open_ring(const std::string& text, std::unique_ptr<MessageQueue>* ring) {
    Address address;
    const Transport* transport = nullptr;
    MessageQueue* made = nullptr;
    if (Status status = Address::parse(text, &address)) return status;
    if (Status status = find_implementation(address.transport(), &transport)) return status;
    const Status status = transport->open_queue(address, Deadline(patience_ms), &made);
    ring->reset(made);
    return status;
}
inline std::unique_ptr<MessageQueue> opened(const std::string& text) {
    std::unique_ptr<MessageQueue> ring;
    EXPECT_EQ(open_ring(text, &ring), IPC_OK) << last_error();
    return ring;
}
inline Status remove_ring(const std::string& text) {
    Address address;
    if (Status status = Address::parse(text, &address)) return status;
    return RingFile::remove(address);
}
inline std::unique_ptr<RingFile> opened_file(const std::string& text) {
    Address address;
    std::unique_ptr<RingFile> file;
    EXPECT_EQ(Address::parse(text, &address), IPC_OK) << last_error();
    EXPECT_EQ(RingFile::open(address, &file), IPC_OK) << last_error();
    return file;
}
inline std::unique_ptr<RingQueue> over(std::unique_ptr<RingFile> file,
                                       shared_memory::WaitMode wait = shared_memory::WaitMode::block) {
    return std::make_unique<RingQueue>(std::move(file), shared_memory::WaitPolicy{wait, 20'000}, size_t{64} << 20);
}

inline Status send(MessageQueue& ring, const std::string& text, int32_t timeout_ms = patience_ms) {
    return ring.enqueue(text.data(), text.size(), Deadline(timeout_ms));
}
inline Status receive(MessageQueue& ring, std::string* text, int32_t timeout_ms = patience_ms) {
    text->assign(5000, '?');
    size_t length = 0;
    const Status status = ring.dequeue(text->data(), text->size(), &length, Deadline(timeout_ms));
    text->resize(status == IPC_OK ? length : 0);
    return status;
}
inline std::string received(MessageQueue& ring, int32_t timeout_ms = patience_ms) {
    std::string text;
    const Status status = receive(ring, &text, timeout_ms);
    return status == IPC_OK ? text : "status " + std::to_string(status);
}

class Stopwatch {
  public:
    int64_t ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A process that does some work after fork; the handles it has from its parent it must not use.
class Child {
  public:
    explicit Child(const std::function<bool()>& work) {
        process_ = fork();
        if (process_ == 0) _exit(work() ? 0 : 1);
    }
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    pid_t id() const { return process_; }
    void kill() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    // Whether it ended by itself and its work returned true; `killed` tells that it died by SIGKILL.
    bool join(bool* killed = nullptr) {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = -1;
        if (killed != nullptr) *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

  private:
    pid_t process_ = -1;
};

// A message that tells its writer and number, and whose every byte depends on both: length 12 and more.
inline void fill(std::vector<unsigned char>& bytes, uint32_t writer, uint64_t number) {
    bytes.resize(12 + (number * 37 + writer) % 180);
    std::memcpy(bytes.data(), &writer, 4);
    std::memcpy(bytes.data() + 4, &number, 8);
    for (size_t i = 12; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(writer * 31 + number * 7 + i);
}
inline bool is_whole(const unsigned char* bytes, size_t length, uint32_t* writer, uint64_t* number) {
    if (length < 12) return false;
    std::memcpy(writer, bytes, 4);
    std::memcpy(number, bytes + 4, 8);
    std::vector<unsigned char> wanted;
    fill(wanted, *writer, *number);
    return wanted.size() == length && std::memcmp(wanted.data(), bytes, length) == 0;
}

} // namespace ipc::ring::test
