#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "core/registry.hpp"
#include "posix/descriptor.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ipc::test {

constexpr int32_t forever = -1;

// A name no other test, here or in another process, uses.
inline std::string unique_name() {
    static std::atomic<int> count{0};
    return "core-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

inline std::string private_folder() {
    return "/tmp/ipc-" + std::to_string(geteuid());
}

inline bool exists(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0;
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

// A process of our own that runs a function after fork and then waits to be ended; it ends with this object.
class Child {
  public:
    // Returns once the function has returned in the child; ready() tells whether it returned true.
    explicit Child(const std::function<bool()>& work) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
        process_ = fork();
        if (process_ == 0) {
            const char result = work() ? 1 : 0;
            if (write(ends[1], &result, 1) != 1) _exit(2);
            while (true) pause();
        }
        ::close(ends[1]);
        char result = 0;
        ready_ = read(ends[0], &result, 1) == 1 && result == 1;
        ::close(ends[0]);
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool ready() const { return ready_; }
    void end() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }

  private:
    pid_t process_ = -1;
    bool ready_ = false;
};

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
