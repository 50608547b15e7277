#pragma once

#include "core/status.hpp"

#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>

namespace ipc::boost_mq {

// One Boost.Interprocess message_queue, and what it lacks when the process on its other side is killed.
//
// Boost's mutex would stay locked for ever if its holder died, and whoever came next would hang where no time-out reaches.
// The creator therefore makes that mutex a robust one before anybody else sees the queue: the next to lock it gets an error,
// which Boost turns into an exception. The queue is then of no more use, and its fragments after that moment are dropped.
//
// What a peer could write into Boost's own structures Boost trusts: this is a transport to compare with, among processes
// of one user, not one to put in front of an enemy.
class Queue {
  public:
    enum class Outcome { done, timed_out, peer_died };

    // The status is IPC_SYSTEM with Boost's reason, or IPC_NOT_OUR_PROTOCOL when an opened queue is not of the form told.
    static Status create(const std::string& name, size_t depth, size_t fragment_bytes, std::unique_ptr<Queue>* queue);
    static Status open(const std::string& name, size_t depth, size_t fragment_bytes, std::unique_ptr<Queue>* queue);
    // Never fails: what is not there is removed.
    static void remove(const std::string& name);

    // At most `patience_ns`. Throw what Boost throws for anything else than the death of the peer.
    Outcome send(const void* data, size_t length, int64_t patience_ns);
    Outcome receive(void* room, size_t capacity, size_t* length, int64_t patience_ns);

  private:
    Status map_header(const std::string& name, size_t depth, size_t fragment_bytes);
    Status make_robust();
    Outcome holder_died();
    bool is_sound();

    std::optional<boost::interprocess::message_queue> queue_;
    boost::interprocess::mapped_region header_; // a second view of the beginning, where the mutex lies
    pthread_mutex_t* mutex_ = nullptr;
    bool dead_ = false;
};

} // namespace ipc::boost_mq
