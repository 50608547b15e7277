#pragma once

#include "core/deadline.hpp"
#include "core/status.hpp"
#include "posix/descriptor.hpp"

#include <array>
#include <string>
#include <string_view>

namespace ipc {

// The FIFO handshake of docs/wire-formats.md: its record, and what stands in the private folder.

constexpr char fifo_greeting = 0x06;
constexpr size_t fifo_record_size = 48;
constexpr char fifo_record_start = 'I'; // the magic's first byte
constexpr size_t fifo_token_size = 32;
using FifoRecord = std::array<char, fifo_record_size>;

FifoRecord make_fifo_record(std::string_view token);
// Whether these fifo_record_size bytes are a record; then its token, which is safe to use in a path.
bool read_fifo_record(const char* bytes, std::string* token);

// Opens a FIFO of our own user without blocking and without following a link. On failure the descriptor is empty and
// errno tells; EPERM if what stands there is not a FIFO or is another user's.
posix::Descriptor open_fifo(const std::string& path, int access);

// Whether what stands there, if anything, belongs to another user.
bool is_another_users(const std::string& path);

// Removes a FIFO of our own that nobody reads. Call with the names locked; true if the name is free afterwards.
bool remove_dead_fifo(const std::string& path);

// For a client whose connection has ended: removes the server's name if the server is dead or dies within some
// milliseconds, and the names can be locked before the deadline. False: the name is still there.
bool forget_dead_fifo_server(const std::string& path, const Deadline& deadline);
// The same, for a server that has had time to die.
void forget_fifo_server_if_dead(const std::string& path);

// The two FIFOs of one connection that is being made; they lose their names at the end of this object's life.
class FifoPair {
  public:
    // The names for a token, without making anything: the server's view.
    FifoPair(const std::string& handshake_fifo, std::string_view token);
    ~FifoPair();
    FifoPair(const FifoPair&) = delete;
    FifoPair& operator=(const FifoPair&) = delete;

    // Makes both and opens `.down` for reading: the client's part.
    Status make(const Deadline& deadline, posix::Descriptor* down);

    // They keep their names after all.
    void leave_names() {
        up_.clear();
        down_.clear();
    }

    const std::string& up() const { return up_; }     // client to server
    const std::string& down() const { return down_; } // server to client

  private:
    std::string up_;
    std::string down_;
};

// Removes pairs that clients killed while connecting to this handshake have left. Call with the names locked.
void remove_dead_pairs(const std::string& handshake_fifo);

} // namespace ipc
