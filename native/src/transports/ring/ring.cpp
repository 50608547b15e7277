#include "core/transport.hpp"
#include "transports/ring/ring_queue.hpp"

namespace ipc {
namespace {

Status open_ring(const Address& address, const Deadline& deadline, MessageQueue** queue) {
    std::unique_ptr<ring::RingFile> file;
    if (Status status = ring::RingFile::open(address, &file, deadline.for_moments())) return status;
    *queue = new ring::RingQueue(std::move(file), shared_memory::wait_policy(address), address.limit());
    return IPC_OK;
}

} // namespace

extern const Transport transport_ring{.open_queue = open_ring, .remove_queue = ring::RingFile::remove};

} // namespace ipc
