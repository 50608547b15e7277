#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "shared_memory/layout.hpp"
#include "shared_memory/memory_file.hpp"

#include <memory>
#include <string>

namespace ipc::shared_memory {

// The connection two processes met over: a Unix socket, or the handle of a pipe opened for overlapped use.
#if defined(_WIN32)
using Connection = void*;
#else
using Connection = int;
#endif

// The other process, as far as it shows outside the mapping: the connection that hands the memory over, and that ends when
// the peer closes or dies. Nothing else is ever sent over it.
class Peer {
  public:
    // Owns the connection. `server_name`, a client's: what to remove should the server be found dead.
    Peer(Connection connection, std::string server_name);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    // The server's end, once: `memory` is complete and will not change its size.
    Status hand_over(Layout layout, MemoryFile memory);
    // The client's end, once.
    Status receive(Layout layout, const Deadline& deadline, MemoryFile* memory);
    // Then both, before anybody sleeps: the mapping whose words that will be on.
    void sleep_on(const Header& header);

    // Whether only one of the two processes can run at a time; false when that cannot be known.
    bool has_one_processor_with_us() const;

    // IPC_OK while the other end stands and is silent; else why not, IPC_PEER_CLOSED without an error message. A system call. The
    // deadline bounds what there is to tidy up after a dead server.
    Status look(const Deadline& deadline);
    // Ends the connection, which the peer sees. From any thread.
    void hang_up();

  private:
#if defined(_WIN32)
    Status copy_handles(uint64_t memory_number, const uint64_t* event_numbers, MemoryFile* memory);
#endif
    struct System;
    std::unique_ptr<System> system_;
};

} // namespace ipc::shared_memory
