#pragma once

#include "posix/local_socket.hpp"
#include "transports/broadcast/readers_posix.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ipc::broadcast {

// Where a reader begins.
struct Start {
    uint64_t position;
    uint64_t number;
};

// The publisher's admission thread: lets subscribers in whenever they come, hands them the memory, and notices at once
// when one is gone, however it went.
class Admission {
  public:
    // `start` is called with the readers' mutex held.
    Admission(Readers& readers, std::function<Start()> start) : readers_(readers), start_(std::move(start)) {}
    ~Admission();
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    // Takes the name and starts the thread. `data`: the read-only descriptor subscribers get.
    Status open(const posix::LocalName& name, posix::Descriptor data);
    // Removes the name; the thread ends the subscribers' connections and itself. From any thread.
    void close();

  private:
    // A connection that has not said yet how it wants to read.
    struct PendingConnection {
        posix::Descriptor socket;
        std::chrono::steady_clock::time_point came;
    };
    struct Reader {
        posix::Descriptor socket;
        unsigned place;
    };

    void run();
    void accept_pending();
    void welcome(PendingConnection pending);
    bool admit(const Join& join, int socket, unsigned* place);
    void send_away_the_silent();
    void remove(const Reader& reader);

    Readers& readers_;
    std::function<Start()> start_;
    posix::Descriptor data_;
    std::unique_ptr<posix::LocalListener> listener_;
    std::vector<PendingConnection> pending_;
    std::vector<Reader> present_;
    std::thread thread_;
};

} // namespace ipc::broadcast
