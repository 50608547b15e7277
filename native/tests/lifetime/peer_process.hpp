#pragma once

#include "support.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lifetime {

inline constexpr size_t large = 32 << 20; // more than any transport keeps on the way

// Foreign libraries do not outlive a fork.
inline std::vector<std::string> of_our_own() {
    std::vector<std::string> all = transports("channel");
    std::erase_if(all, [](const std::string& id) { return id == "iceoryx" || id == "boost-mq"; });
    return all;
}

// The other end of a connection, in a process of its own that can be stopped and killed; forked before this one has any handle
// or thread.
class PeerProcess {
  public:
    // As a server: nothing; answers each request with `large` bytes; sends a message of as many. As a client: calls with one byte.
    enum class Does { nothing, replies, sends, calls };

    PeerProcess(const std::string& transport, Does what) {
        int ends[2][2];
        for (auto& one : ends) EXPECT_EQ(pipe(one), 0);
        const std::string address = address_for(transport);
        pid_ = fork();
        if (pid_ == 0) {
            if (what == Does::calls) run_client(ends[0][0]);
            run_server(address, what, ends[1][1]);
        }
        if (what == Does::calls)
            accept_it(address, ends[0][1]);
        else
            connect_to_it(ends[1][0]);
        for (auto& one : ends)
            for (const int end : one) close(end);
    }
    ~PeerProcess() {
        ipc_channel_free(channel_);
        ipc_listener_free(listener_);
        kill_it();
        if (listener_ != nullptr || address_.empty()) return;
        // Whoever listens at a dead server's name takes it over, and takes it away in the end.
        ipc_listener* heir = nullptr;
        EXPECT_EQ(ipc_listen(address_.c_str(), &heir), IPC_OK) << ipc_last_error();
        ipc_listener_free(heir);
    }
    PeerProcess(const PeerProcess&) = delete;
    PeerProcess& operator=(const PeerProcess&) = delete;

    // This process' end.
    ipc_channel* channel() const { return channel_; }
    const std::string& address() const { return address_; }
    void stop() const {
        kill(pid_, SIGSTOP);
        int state = 0;
        waitpid(pid_, &state, WUNTRACED);
    }
    void go_on() const { kill(pid_, SIGCONT); }
    void kill_it() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    static std::string address_for(const std::string& transport) {
        std::string address = address_of(transport);
        const size_t options = address.find('?');
        if (transport == "shm-event") return address.substr(0, options);
        return options == std::string::npos ? address : address + "&max=64M";
    }

    void connect_to_it(int told) {
        char text[256] = {};
        ASSERT_GT(read(told, text, sizeof text - 1), 0);
        address_ = text;
        ASSERT_EQ(ipc_connect(text, patience_ms, &channel_), IPC_OK) << ipc_last_error();
    }
    void accept_it(const std::string& address, int tell) {
        ASSERT_EQ(ipc_listen(address.c_str(), &listener_), IPC_OK) << ipc_last_error();
        address_ = ipc_listener_address(listener_);
        ASSERT_GT(write(tell, address_.data(), address_.size()), 0);
        ASSERT_EQ(ipc_accept(listener_, patience_ms, &channel_), IPC_OK) << ipc_last_error();
    }

    [[noreturn]] static void run_server(const std::string& address, Does what, int tell) {
        ipc_listener* listener = nullptr;
        ipc_channel* channel = nullptr;
        if (ipc_listen(address.c_str(), &listener) != IPC_OK) _exit(1);
        const std::string at = ipc_listener_address(listener);
        const std::vector<char> bytes(what == Does::nothing ? 1 : large, 'l');
        if (write(tell, at.data(), at.size()) < 0) _exit(1);
        close(tell);
        if (ipc_accept(listener, patience_ms, &channel) != IPC_OK) _exit(2);
        if (what == Does::sends) ipc_send(channel, bytes.data(), bytes.size(), patience_ms);
        const void* request = nullptr;
        size_t length = 0;
        if (what == Does::replies)
            while (ipc_receive_request(channel, &request, &length, patience_ms) == IPC_OK &&
                   ipc_reply(channel, bytes.data(), bytes.size(), patience_ms) == IPC_OK)
                continue;
        sleep(60);
        _exit(0);
    }

    [[noreturn]] static void run_client(int told) {
        char address[256] = {};
        ipc_channel* channel = nullptr;
        if (read(told, address, sizeof address - 1) <= 0) _exit(1);
        if (ipc_connect(address, patience_ms, &channel) != IPC_OK) _exit(2);
        size_t length = 0;
        char reply[1];
        ipc_call(channel, "?", 1, reply, sizeof reply, &length, patience_ms);
        sleep(60);
        _exit(0);
    }

    pid_t pid_ = 0;
    std::string address_;
    ipc_listener* listener_ = nullptr;
    ipc_channel* channel_ = nullptr;
};

// How long this thread took, less the time for which it could have run and others had the processors.
class OwnTime {
  public:
    int64_t ms() const { return (clock() - waited() - start_) / 1'000'000; }

  private:
    static int64_t clock() {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    // The kernel counts it where it is configured to (it then has the file); elsewhere nothing is subtracted.
    static int64_t waited() {
        char text[128] = {};
        const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        if (file < 0) return 0;
        const ssize_t got = read(file, text, sizeof text - 1);
        close(file);
        long long ran = 0, waited = 0;
        return got > 0 && std::sscanf(text, "%lld %lld", &ran, &waited) == 2 ? waited : 0;
    }

    int64_t start_ = clock() - waited();
};

} // namespace lifetime
