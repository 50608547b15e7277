#include "peer_process.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace ipc::peer::testing {
namespace {

constexpr int patience_ms = 60'000; // a cell of json under a sanitizer takes 20 s on a slow day

} // namespace

PeerProcess::PeerProcess() {
    std::signal(SIGPIPE, SIG_IGN); // a peer that ended early is seen by its output
    int to_peer[2], from_peer[2];
    if (pipe2(to_peer, O_CLOEXEC) != 0 || pipe2(from_peer, O_CLOEXEC) != 0)
        throw std::runtime_error("no pipes are left: raise the limit on open files");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_peer[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from_peer[1], STDOUT_FILENO);
    char program[] = IPC_PEER_PROGRAM;
    char* arguments[] = {program, nullptr};
    const int error = posix_spawn(&process_, program, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to_peer[0]);
    close(from_peer[1]);
    input_ = to_peer[1];
    output_ = from_peer[0];
    if (error != 0) throw std::runtime_error("cannot start " IPC_PEER_PROGRAM ": build the target ipc-peer");
}

PeerProcess::~PeerProcess() {
    end_input();
    wait(); // a peer that ends in order removes the names it made
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    close(output_);
}

void PeerProcess::send(const nlohmann::json& line) {
    send_text(line.dump());
}

void PeerProcess::send_text(std::string_view line) {
    const std::string text = std::string(line) + "\n";
    for (size_t at = 0; at < text.size();) {
        const ssize_t written = write(input_, text.data() + at, text.size() - at);
        if (written <= 0) return;
        at += static_cast<size_t>(written);
    }
}

void PeerProcess::end_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
}

bool PeerProcess::read_line(std::string* line) {
    while (true) {
        if (const size_t end = unread_.find('\n'); end != std::string::npos) {
            *line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return true;
        }
        pollfd ready{output_, POLLIN, 0};
        if (poll(&ready, 1, patience_ms) <= 0) return false;
        char bytes[4096];
        const ssize_t count = read(output_, bytes, sizeof bytes);
        if (count <= 0) return false;
        unread_.append(bytes, static_cast<size_t>(count));
    }
}

nlohmann::json PeerProcess::expect(std::string_view name) {
    for (std::string line; read_line(&line);) {
        auto event = nlohmann::json::parse(line);
        if (event["event"] == name || event["event"] == "failed") return event;
    }
    return nullptr;
}

int PeerProcess::wait() {
    if (process_ < 0) return -1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
    while (std::chrono::steady_clock::now() < end) {
        int status = 0;
        if (waitpid(process_, &status, WNOHANG) == process_) {
            process_ = -1;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return -1;
}

} // namespace ipc::peer::testing
