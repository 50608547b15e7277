#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "core/status.hpp"
#include "shared_memory/layout.hpp"
#include "shared_memory/sealed_memory.hpp"
#include "shared_memory/waiting.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ipc::shared_memory {

// How this side has its memory, from the address's options pages= and prefault= where a transport has them.
struct MemoryOptions {
    Pages pages = Pages::normal; // the listener's
    bool prefault = false;
};

// The mapping two processes share and what tells them about each other: the words for parking, the flags for closing, and
// the socket that ends when the peer dies. The system-dependent half is link_posix.cpp.
class Link {
  public:
    // The server's end: makes the memory and sends it over `socket`, which the link then owns, also when this fails.
    static Status offer(int socket, Layout layout, uint32_t slot_count, uint64_t data_bytes, WaitPolicy policy,
                        Link** link, MemoryOptions memory = {});
    // The client's end: receives the memory over `socket`, checks and maps it. `server_name`: path to remove should the server die.
    static Status take_up(int socket, Layout layout, WaitPolicy policy, std::string server_name,
                          const Deadline& deadline, Link** link, MemoryOptions memory = {});
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    unsigned side() const { return side_; } // 0 client, 1 server
    Header& header() const { return *reinterpret_cast<Header*>(memory_.data()); }
    std::byte* memory() const { return memory_.data(); }
    // Our own copies; the ones in the mapping may be changed by the peer.
    uint32_t slot_count() const { return slot_count_; }
    uint64_t data_bytes() const { return data_bytes_; }
    RingControl& outgoing() const { return *outgoing_; }
    RingControl& incoming() const { return *incoming_; }
    // Whether this side looks again and again before it sleeps.
    bool spins() const { return policy_.mode != WaitMode::block; }

    // Whether the peer has said that it closed: there is nobody to write for.
    bool peer_closed() const { return incoming().closed.load(std::memory_order_relaxed) != 0; }
    // Whether there is no point in sending: closed there or here. reason_to_stop says which.
    bool ended() const { return closed_here_.load(std::memory_order_relaxed) || peer_closed(); }
    // The status and sentence for a link that has ended; IPC_OK if a peer that plays with its flag has taken it back.
    Status why_ended() { return reason_to_stop(false); }

    // Waits until ready() is true. `parked` is the word this side sleeps on, `budget` the caller's own. The statuses: IPC_TIMED_OUT; IPC_CLOSED (here);
    // IPC_PEER_CLOSED, only when ready() is still false after the peer's end was seen; IPC_NOT_OUR_PROTOCOL.
    template <class Ready>
    Status wait(std::atomic<uint32_t>& parked, SpinBudget& budget, const Deadline& deadline, Ready ready);

    // After publishing something the other side may wait for: wakes it if it sleeps on `parked`.
    void wake_if_parked(std::atomic<uint32_t>& parked) {
        // A peer that only spins told so before its first wait; the fence below would cost it nothing but us some.
        if (incoming().waits_by.load(std::memory_order_relaxed) == static_cast<uint32_t>(WaitsBy::spinning)) return;
        // Orders our publishing before the look: either the peer sees what we published or we see that it sleeps.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (parked.load(std::memory_order_relaxed) != 0) [[unlikely]]
            wake(parked);
    }

    void close();

  private:
    Link(int socket, Mapping memory, unsigned side, uint32_t slot_count, uint64_t data_bytes,
         WaitPolicy policy, std::string server_name);

    // Looks for a reason to stop waiting; `look_at_socket` costs a system call.
    Status reason_to_stop(bool look_at_socket);
    // Sleeps until woken, the deadline or the end of a slice of 200 ms; true for the latter.
    bool sleep(std::atomic<uint32_t>& parked, const Deadline& deadline);
    void wake(std::atomic<uint32_t>& parked);
    Status spin_housekeeping(int64_t spun_ns, int64_t* next_look_ns);

    static constexpr int64_t first_socket_look_ns = 1'000'000;

    int socket_;
    Mapping memory_;
    RingControl* outgoing_;
    RingControl* incoming_;
    unsigned side_;
    uint32_t slot_count_;
    uint64_t data_bytes_;
    WaitPolicy policy_;
    std::string server_name_;
    std::atomic<bool> closed_here_{false};
    std::atomic<bool> peer_gone_{false};
};

template <class Ready>
Status Link::wait(std::atomic<uint32_t>& parked, SpinBudget& budget, const Deadline& deadline, Ready ready) {
    if (ready()) [[likely]]
        return IPC_OK;
    // A clock read costs as much as several looks at the memory and is blind meanwhile: it comes after a bout of looks,
    // and not at all when the answer arrives within the first.
    constexpr int looks_in_a_bout = 100;
    if (policy_.mode != WaitMode::block) {
        int64_t start = 0, spun = 0, next_socket_look = first_socket_look_ns;
        const int64_t allowed = budget.next_ns(policy_.spin_ns);
        while (true) {
            for (int look = 0; look < looks_in_a_bout; ++look) {
                relax();
                if (ready()) [[likely]] {
                    budget.found();
                    return IPC_OK;
                }
            }
            if (start == 0)
                start = now_ns();
            else
                spun = now_ns() - start;
            if (policy_.mode == WaitMode::adaptive && spun >= allowed) {
                budget.in_vain();
                break;
            }
            if (Status stop = spin_housekeeping(spun, &next_socket_look)) return ready() ? IPC_OK : stop;
            if (deadline.expired()) return fail(IPC_TIMED_OUT, "timed out waiting for the peer");
        }
    }
    bool slept_a_whole_slice = false; // then the peer may have died without a word: look at the socket
    while (true) {
        // What was sent before the end still counts.
        if (Status stop = reason_to_stop(slept_a_whole_slice)) return ready() ? IPC_OK : stop;
        parked.exchange(1, std::memory_order_seq_cst);
        if (ready()) {
            parked.store(0, std::memory_order_relaxed);
            return IPC_OK;
        }
        if (deadline.expired()) {
            parked.store(0, std::memory_order_relaxed);
            return fail(IPC_TIMED_OUT, "timed out waiting for the peer");
        }
        slept_a_whole_slice = sleep(parked, deadline);
        if (ready()) return IPC_OK;
    }
}

} // namespace ipc::shared_memory
