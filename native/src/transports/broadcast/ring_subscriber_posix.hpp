#pragma once

#include "core/address.hpp"
#include "core/broadcast.hpp"
#include "posix/local_socket.hpp"
#include "shared_memory/sealed_memory.hpp"
#include "shared_memory/segment.hpp"
#include "transports/broadcast/layout.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace ipc::broadcast {

// One reader. It trusts nothing it reads: a publisher can write anything at any time, and one that need not wait for this
// reader overwrites what is being read as a matter of course. So a message is copied out first and then found good, by a
// look at how far the publisher has claimed the ring.
class RingSubscriber final : public BroadcastSubscriber {
  public:
    static Status open(const Address& address, Policy policy, const posix::LocalName& name, const Deadline& deadline,
                       std::unique_ptr<RingSubscriber>* subscriber);
    ~RingSubscriber() override { RingSubscriber::close(); }

    Status receive(void* buffer, size_t capacity, size_t* length, uint64_t* lost, const Deadline& deadline) override;
    void close() override;

  private:
    RingSubscriber(const Address& address, Policy policy, const posix::LocalName& name);
    Status join(const Deadline& deadline);
    Status receive_greeting(const Deadline& deadline, Greeting* greeting, posix::Descriptor* data,
                            posix::Descriptor* page);
    Status map(const posix::Descriptor& data, const posix::Descriptor& page);
    Status not_the_form() const;

    const DataHeader& header() const { return *reinterpret_cast<const DataHeader*>(data_.data()); }
    ReaderPage& page() const { return *reinterpret_cast<ReaderPage*>(page_.data()); }
    const Record& record() const {
        return *reinterpret_cast<const Record*>(data_.data() + header_bytes + (position_ & (ring_bytes_ - 1)));
    }
    bool has_message() const { return header().published.load(std::memory_order_acquire) != position_; }
    // Call after reading from the ring: whether what was read was still whole then.
    bool still_there() const {
        std::atomic_thread_fence(std::memory_order_acquire);
        return header().claimed.load(std::memory_order_relaxed) - position_ <= ring_bytes_;
    }
    Status wait_for_message(const Deadline& deadline);
    Status check(size_t length, uint64_t number);
    Status overtaken();
    void give_back();
    Status closed_here() const;
    Status reason_to_stop(bool look_at_socket, const Deadline& deadline);
    Status break_with(Status status);

    const std::string address_;
    const posix::LocalName name_;
    const Policy policy_;
    const shared_memory::WaitPolicy wait_policy_;
    const size_t limit_;
    posix::Descriptor socket_;
    shared_memory::Mapping data_;
    shared_memory::Mapping page_;
    uint64_t ring_bytes_ = 0;
    bool publisher_may_park_ = true;
    std::atomic<bool> closed_{false};

    // the receiving thread's
    uint64_t position_ = 0;
    uint64_t number_ = 0;    // of the next message, if none is lost
    bool overtaken_ = false; // messages were lost since the last one delivered
    Status broken_ = IPC_OK;
    bool publisher_gone_ = false;
};

} // namespace ipc::broadcast
