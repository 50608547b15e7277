#pragma once

#include "core/address.hpp"
#include "core/broadcast.hpp"
#include "shared_memory/sealed_memory.hpp"
#include "shared_memory/segment.hpp"
#include "transports/broadcast/admission_posix.hpp"
#include "transports/broadcast/layout.hpp"
#include "transports/broadcast/readers_posix.hpp"

#include <atomic>
#include <string>

namespace ipc::broadcast {

// The one writer. A message costs the copying, one store that shows it, and a look at the pages of the readers that may be
// asleep. The readers' cursors are looked at only when what was claimed ahead is used up: every 16th of the ring.
class RingPublisher final : public BroadcastPublisher {
  public:
    // `first`: position (a multiple of 16) and number of the first message; anything but 0 and 1 is for tests.
    RingPublisher(const Address& address, uint64_t ring_bytes, Start first);
    ~RingPublisher() override { RingPublisher::close(); }

    Status open(const posix::LocalName& name);

    size_t limit() const override { return limit_; }
    Status subscribers(size_t* count) override;
    Status publish(const void* message, size_t length, const Deadline& deadline) override;
    void close() override;

  private:
    DataHeader& header() const { return *reinterpret_cast<DataHeader*>(data_.data()); }
    Record& record(uint64_t position) const {
        return *reinterpret_cast<Record*>(data_.data() + header_bytes + (position & (ring_bytes_ - 1)));
    }
    Start start() const;
    Status claim(uint64_t end, const Deadline& deadline);
    bool try_to_claim(uint64_t end, Readers::Room* room);
    void move_resume();
    void wake_readers();
    Status refuse(size_t length) const;

    const std::string address_;
    const uint64_t ring_bytes_;
    const size_t limit_;
    const shared_memory::WaitPolicy policy_;
    const Start first_;
    shared_memory::Mapping data_;
    Readers readers_;
    std::atomic<bool> closed_{false};

    // the publishing thread's
    uint64_t position_;
    uint64_t number_;
    uint64_t claimed_; // what the header says
    uint64_t resume_;
    uint64_t next_resume_;

    // The number of the next message, stored before and after a message is shown: equal, they go with `published`.
    std::atomic<uint64_t> number_before_;
    std::atomic<uint64_t> number_after_;

    Admission admission_; // last: its thread uses the rest
};

} // namespace ipc::broadcast
