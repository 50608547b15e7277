#include "core/transport.hpp"
#include "transports/queue/named_queue.hpp"

namespace ipc {
namespace {

Status open_queue(const Address& address, const Deadline& deadline, MessageQueue** opened) {
    const size_t size = address.option_size("size");
    if (!queue::is_size(size))
        return fail(IPC_BAD_OPTION, "size=%s in '%s': a queue's size must be a power of two from 64k to 1G",
                    address.option("size").c_str(), address.text().c_str());
    std::unique_ptr<queue::QueueFile> file;
    if (Status s = queue::QueueFile::open(address, static_cast<uint32_t>(size), &file, deadline.for_moments()))
        return s;
    *opened = new queue::NamedQueue(std::move(file), address.limit(), shared_memory::wait_policy(address));
    return IPC_OK;
}

} // namespace

extern const Transport transport_queue{.open_queue = open_queue, .remove_queue = queue::QueueFile::remove};

} // namespace ipc
