#include "shared_memory/link.hpp"

namespace ipc::shared_memory {

Status Link::reason_to_stop(bool look_at_socket) {
    if (closed_here_.load(std::memory_order_acquire)) return fail(IPC_CLOSED, "this channel was closed here");
    if (incoming().closed.load(std::memory_order_acquire) != 0 || peer_gone_.load(std::memory_order_relaxed))
        return fail(IPC_PEER_CLOSED, "the peer closed the channel");
    return look_at_socket ? look_at_peer() : IPC_OK;
}

void Link::wake(std::atomic<uint32_t>& parked) {
    if (parked.exchange(0, std::memory_order_seq_cst) != 0) futex_wake_all(parked);
}

void Link::close() {
    if (closed_here_.exchange(true, std::memory_order_seq_cst)) return;
    outgoing().closed.store(1, std::memory_order_seq_cst);
    // The peer may sleep for messages or for room; a thread of our own may too.
    for (RingControl* ring : {&outgoing(), &incoming()}) {
        wake(ring->reader_parked);
        wake(ring->writer_parked);
    }
    hang_up();
}

} // namespace ipc::shared_memory
