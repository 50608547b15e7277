#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "core/out_of_line.hpp"
#include "core/status.hpp"
#include "shared_memory/layout.hpp"
#include "shared_memory/peer.hpp"
#include "shared_memory/sealed_memory.hpp"
#include "shared_memory/wait_until.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ipc::shared_memory {

// How this side has its memory, from the address's options pages= and prefault= where a transport has them.
struct MemoryOptions {
    Pages pages = Pages::normal; // the listener's
    bool prefault = false;
};

// The mapping two processes share and what tells them about each other: the words for parking, the flags for closing, and
// the connection that ends when the peer dies.
class Segment {
  public:
    // The server's end: makes the memory and hands it over by `connection`, which the segment then owns, also when this fails.
    static Status offer(Connection connection, Layout layout, uint32_t slot_count, uint64_t data_bytes,
                        WaitPolicy policy, Segment** segment, MemoryOptions memory = {});
    // The client's end: receives the memory, checks and maps it. `server_name`: path to remove should the server die.
    static Status take_up(Connection connection, Layout layout, WaitPolicy policy, std::string server_name,
                          const Deadline& deadline, Segment** segment, MemoryOptions memory = {});
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    unsigned side() const { return side_; } // 0 client, 1 server
    Header& header() const { return *reinterpret_cast<Header*>(memory_.data()); }
    std::byte* memory() const { return memory_.data(); }
    // Our own copies; the ones in the mapping may be changed by the peer.
    uint32_t slot_count() const { return slot_count_; }
    uint64_t data_bytes() const { return data_bytes_; }
    RingControl& outgoing() const { return *outgoing_; }
    RingControl& incoming() const { return *incoming_; }
    // Whether this side looks again and again before it sleeps.
    bool spins() const { return policy_.mode != WaitMode::block && !policy_.one_processor; }

    // The channel's address, for error messages. Before anything else is called.
    void set_address(std::string address) { address_ = std::move(address); }

    // Whether the peer has said that it closed: there is nobody to write for.
    bool peer_closed() const { return incoming().closed.load(std::memory_order_relaxed) != 0; }
    // Whether there is no point in sending: closed there or here, or the peer found dead. reason_to_stop says which.
    bool ended() const { return end_.load(std::memory_order_relaxed) != 0 || peer_closed(); }
    // The status and error message for a segment that has ended; IPC_OK if a peer that plays with its flag has taken it back.
    Status why_ended() { return reason_to_stop(false, Deadline(0)); }
    // IPC_CLOSED, told, after close(); not after hang_up().
    Status closed_here() const;

    // Waits until ready() is true; a deadline of no time at all looks once, and at the peer now and then. `parked` is the word this side
    // sleeps on, `budget` the caller's own. The statuses:
    // IPC_TIMED_OUT; IPC_CLOSED (here); IPC_PEER_CLOSED, only when ready() is still false after the peer's end was seen;
    // IPC_NOT_OUR_PROTOCOL.
    template <class Ready>
    Status wait(std::atomic<uint32_t>& parked, SpinBudget& budget, const Deadline& deadline, Ready ready) {
        if (ready()) [[likely]]
            return IPC_OK;
        return wait_longer(parked, budget, deadline, ready);
    }

    // After publishing something the other side may wait for: wakes it if it sleeps on `parked`.
    void wake_if_parked(std::atomic<uint32_t>& parked) {
        // A peer that only spins told so before its first wait; the fence below would cost it nothing but us some.
        if (incoming().waits_by.load(std::memory_order_relaxed) == static_cast<uint32_t>(WaitsBy::spinning)) return;
        // Orders our publishing before the look: either the peer sees what we published or we see that it sleeps.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (parked.load(std::memory_order_relaxed) != 0) [[unlikely]]
            wake(parked);
    }

    // From any thread: until it is turned off again, whoever waits for what the peer sends gives up at once, as at the end of a time-out.
    void interrupt_receiving(bool on);

    void close();
    // The same for a channel that is broken: who waits here gets IPC_CLOSED, too, and has to look why.
    void hang_up();

  private:
    // Why the segment has ended, in end_.
    static constexpr uint32_t closed = 1, hung_up = 2, peer_gone = 4;

    Segment(std::unique_ptr<Peer> peer, Mapping memory, unsigned side, uint32_t slot_count, uint64_t data_bytes,
            WaitPolicy policy);

    template <class Ready>
    IPC_OUT_OF_LINE Status wait_longer(std::atomic<uint32_t>& parked, SpinBudget& budget, const Deadline& deadline,
                                       Ready ready);
    // Looks for a reason to stop waiting; `look_at_peer` costs a system call.
    Status reason_to_stop(bool look_at_peer, const Deadline& deadline);
    Status peer_ended() const;
    void end(uint32_t why);
    // Whether a wait on this word is to end because of interrupt_receiving.
    bool is_interrupted(const std::atomic<uint32_t>& parked) const {
        return receiving_interrupted_.load(std::memory_order_relaxed) && &parked == &incoming().reader_parked;
    }
    // Whether somebody who only polls should look at the peer again.
    bool look_is_due();
    void wake(std::atomic<uint32_t>& parked);

    static constexpr const char* timed_out = "the time-out passed before the peer sent, or took, anything";
    static constexpr int64_t slice_ns = 200'000'000; // a peer killed outright is noticed between two
    static constexpr int64_t look_interval_ms = 200; // likewise by who polls

    Mapping memory_;
    RingControl* outgoing_;
    RingControl* incoming_;
    unsigned side_;
    uint32_t slot_count_;
    uint64_t data_bytes_;
    WaitPolicy policy_;
    std::unique_ptr<Peer> peer_; // goes first: it knows words of the mapping
    std::string address_;
    std::atomic<uint32_t> end_{0};
    std::atomic<bool> receiving_interrupted_{false};
    std::atomic<int64_t> looked_ms_{0}; // when somebody who polls last looked at the peer
};

template <class Ready>
Status Segment::wait_longer(std::atomic<uint32_t>& parked, SpinBudget& budget, const Deadline& deadline, Ready ready) {
    if (deadline.immediate()) {
        const Status s = reason_to_stop(look_is_due(), deadline);
        if (ready()) return IPC_OK;
        return s != IPC_OK ? s : fail_plainly(IPC_TIMED_OUT, timed_out);
    }
    const auto stop = [&](bool look) {
        const Status s = reason_to_stop(look, deadline);
        return s == IPC_OK && is_interrupted(parked) ? IPC_TIMED_OUT : s;
    };
    const auto park = [&](int64_t nanoseconds) {
        // Whoever publishes, interrupts or closes after the looks below sees the 1 and wakes us; what came before, the looks see.
        parked.exchange(1, std::memory_order_seq_cst);
        // The looks come after the announcement; what wake_if_parked does is the other half of the bargain.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const bool slept_it_all =
            !ready() && !ended() && !is_interrupted(parked) && !futex_wait(parked, 1, nanoseconds);
        parked.store(0, std::memory_order_relaxed);
        return slept_it_all;
    };
    const Status status = wait_until(policy_, budget, deadline, slice_ns, ready, stop, park);
    if (status != IPC_TIMED_OUT) [[likely]]
        return status;
    return fail_plainly(IPC_TIMED_OUT, timed_out);
}

} // namespace ipc::shared_memory
