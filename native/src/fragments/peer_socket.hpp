#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "posix/descriptor.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace ipc::fragments {

// The Unix socket over which two ends met, kept for as long as the channel lives: it ends when the peer closes or dies.
// A foreign library may also have tokens (single bytes) pass over it. Any thread may call anything.
class PeerSocket {
  public:
    // `server_path`: at the client the server's name in the file system, to be removed should the server have died; else "".
    PeerSocket(posix::Descriptor socket, std::string server_path, bool takes_tokens)
        : socket_(std::move(socket)), server_path_(std::move(server_path)), takes_tokens_(takes_tokens) {}

    // True once the peer has been found gone, or the channel was closed here.
    bool gone() const { return gone_.load(std::memory_order_acquire); }
    bool closed_here() const { return closed_here_.load(std::memory_order_acquire); }

    // How many tokens have come, as far as look() has seen.
    uint64_t tokens() const { return tokens_.load(std::memory_order_acquire); }

    // Looks, by a system call, whether the peer is there still, and takes the tokens that have come. IPC_NOT_OUR_PROTOCOL if
    // there are some where none are due.
    Status look(const Deadline& deadline = Deadline(100));
    // Waits for a token or the peer's end, at most so long; false if neither came.
    bool wait(int64_t patience_ns) const;
    // Sends one token; a peer that is gone will be found gone.
    void give_token();

    void close();

  private:
    posix::Descriptor socket_;
    std::string server_path_;
    const bool takes_tokens_;
    std::atomic<uint64_t> tokens_{0};
    std::atomic<bool> gone_{false};
    std::atomic<bool> closed_here_{false};
};

} // namespace ipc::fragments
