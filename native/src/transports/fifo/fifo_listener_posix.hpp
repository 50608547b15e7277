#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "posix/backoff.hpp"
#include "posix/interrupt.hpp"
#include "posix/names.hpp"
#include "transports/fifo/fifo_names_posix.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <poll.h>
#include <shared_mutex>
#include <string>
#include <vector>

namespace ipc {

// Reads the handshake FIFO, greets whoever leaves a record there, and makes channels of those that answer. All handshakes go on side by
// side, so that nobody waits for a client that says nothing.
class FifoListener final : public FrameListener {
  public:
    FifoListener(const Address& address, std::string path) : address_(address), path_(std::move(path)) {}
    ~FifoListener() override { FifoListener::close(); }

    Status open();
    Status accept(const Deadline& deadline, FrameChannel** channel) override;
    void close() override;
    const char* address() const override { return address_.text().c_str(); }

  private:
    // A client that has been greeted and has not answered. Its names go with this object: they are not needed any more then. It has all the
    // descriptors of its channel, because who has answered takes itself for connected and must not fail for want of one.
    struct Handshake {
        std::unique_ptr<FifoPair> pair;
        std::unique_ptr<FifoStream> stream; // reads `.up`, writes `.down`
        int64_t began_ms;
        bool opened = false; // seen to have `.up` open, so that its answer is on the way
    };

    Status take_name();
    Status closed_here() const;
    Status nobody_came() const;
    // For the one thread that looks at a time.
    Status look(const Deadline& deadline, posix::Backoff* backoff);
    int wait_ms(const Deadline& deadline) const;
    const Handshake& next_to_drop() const;
    bool has_room() const;
    void finish_handshakes(const std::vector<pollfd>& entries);
    void finish_handshake(Handshake handshake);
    static Greeting withdraw(Handshake* handshake);
    bool drop_handshakes(size_t most);
    Status begin_handshakes();
    Status begin_handshake(const std::string& token);
    bool next_token(std::string* token);
    bool find_record(std::string* token);

    const Address address_;
    const std::string path_;
    posix::Descriptor handshake_fifo_;
    posix::FileIdentity identity_;
    posix::Interrupt interrupt_;
    // Shared by accept, alone by close: clients in the queue learn that nobody accepts them when the handshake is
    // closed, which must not happen under an accept in progress.
    std::shared_mutex in_use_;

    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    bool somebody_looks_ = false;
    std::deque<std::unique_ptr<FrameChannel>> ready_;

    // Of the thread that looks.
    std::vector<Handshake> handshakes_; // the oldest first
    FifoRecord arrived_{};
    size_t arrived_count_ = 0;
    std::string postponed_; // the token of a client for whom the system had no descriptors
};

} // namespace ipc
