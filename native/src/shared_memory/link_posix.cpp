#include "posix/local_socket.hpp"
#include "posix/poll.hpp"
#include "shared_memory/handover.hpp"
#include "shared_memory/link.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ipc::shared_memory {
namespace {

constexpr int required_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

struct Greeting {
    uint32_t magic;
    uint32_t version;
    uint32_t layout;
    uint32_t zero;
};
static_assert(sizeof(Greeting) == 16);

size_t page_up(size_t bytes) {
    return (bytes + 4095) & ~size_t{4095};
}

// The size of the whole mapping; 0 if the numbers are impossible.
size_t mapping_bytes(uint32_t slot_count, uint64_t data_bytes) {
    if (slot_count > (1u << 20) || data_bytes == 0 || data_bytes > (uint64_t{1} << 40) || data_bytes % 4096 != 0)
        return 0;
    const uint64_t bytes = header_bytes + page_up(size_t{2} * slot_count * 64) + 2 * data_bytes;
    return bytes <= SIZE_MAX / 2 ? static_cast<size_t>(bytes) : 0;
}

Status send_greeting(int socket, Layout layout, int memory_fd) {
    const Greeting greeting{handover_magic, version, static_cast<uint32_t>(layout), 0};
    const int error = send_with_descriptors(socket, &greeting, sizeof greeting, &memory_fd, 1);
    if (error == 0) return IPC_OK;
    if (error == EPIPE || error == ECONNRESET)
        return fail(IPC_PEER_CLOSED, "the client left before it took the shared memory");
    return fail_system(IPC_SYSTEM, error, "cannot hand the shared memory over");
}

// Receives the greeting and its descriptor.
Status receive_greeting(int socket, Layout layout, const Deadline& deadline, posix::Descriptor* memory_file) {
    pollfd readable{socket, POLLIN, 0};
    const int ready = posix::poll_until(&readable, 1, deadline);
    if (ready < 0) return fail_system(IPC_SYSTEM, errno, "cannot wait for the server's shared memory");
    if (ready == 0) return fail(IPC_TIMED_OUT, "the server did not hand over its shared memory in time");

    Greeting greeting{};
    size_t descriptors = 0;
    const long got = receive_with_descriptors(socket, &greeting, sizeof greeting, memory_file, 1, &descriptors);
    if (got == static_cast<long>(sizeof greeting) && greeting.magic == handover_magic && greeting.version == version &&
        greeting.layout == static_cast<uint32_t>(layout) && descriptors == 1)
        return IPC_OK;
    if (got == 0 || got == -ECONNRESET)
        return fail(IPC_PEER_CLOSED,
                    "the server closed or died before it handed over its shared memory: connect again");
    return fail(IPC_NOT_OUR_PROTOCOL, "what listens there is not this transport's server, or of another version");
}

} // namespace

Link::Link(int socket, Mapping memory, unsigned side, uint32_t slot_count, uint64_t data_bytes, WaitPolicy policy,
           std::string server_name)
    : socket_(socket), memory_(std::move(memory)), outgoing_(&header().ring[side]), incoming_(&header().ring[side ^ 1]),
      side_(side), slot_count_(slot_count), data_bytes_(data_bytes), policy_(policy),
      server_name_(std::move(server_name)) {
    auto waits_by = policy.mode == WaitMode::spin ? WaitsBy::spinning : WaitsBy::parking;
    outgoing().waits_by.store(static_cast<uint32_t>(waits_by), std::memory_order_release);
}

Link::~Link() {
    close();
    ::close(socket_);
}

Status Link::offer(int socket, Layout layout, uint32_t slot_count, uint64_t data_bytes, WaitPolicy policy, Link** link,
                   MemoryOptions options) {
    posix::Descriptor connection(socket);
    size_t bytes = mapping_bytes(slot_count, data_bytes);
    if (bytes == 0)
        return fail(IPC_OUT_OF_MEMORY,
                    "twice %llu bytes of data are more than a process maps: choose a smaller size= or max=",
                    static_cast<unsigned long long>(data_bytes));
    posix::Descriptor file;
    Mapping memory;
    if (Status s = make_sealed_memory(&bytes, options.pages, &file)) return s;
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot seal %zu bytes of shared memory", bytes);
    if (Status s = map_memory(file, bytes, Access::read_write, &memory)) return s;
    if (options.prefault)
        if (Status s = prefault(memory)) return s;
    auto* header = reinterpret_cast<Header*>(memory.data()); // fresh pages are zero, which is every word's first value
    header->magic = mapping_magic;
    header->version = version;
    header->layout = static_cast<uint32_t>(layout);
    header->slot_count = slot_count;
    header->data_bytes = data_bytes;
    if (Status s = send_greeting(socket, layout, file.get())) return s;
    *link = new Link(connection.release(), std::move(memory), 1, slot_count, data_bytes, policy, {});
    return IPC_OK;
}

// Maps what the server handed over and takes its numbers, which it may change at any time, over once.
static Status check_and_map(const posix::Descriptor& file, Layout layout, Mapping* memory, uint32_t* slot_count,
                            uint64_t* data_bytes) {
    // Without the seals the server could shrink the memory under us, and touching it would kill this process.
    const size_t bytes = (fcntl(file.get(), F_GET_SEALS) & required_seals) == required_seals ? sealed_bytes(file) : 0;
    if (bytes >= header_bytes) {
        if (Status s = map_memory(file, bytes, Access::read_write, memory)) return s;
        const volatile auto* header = reinterpret_cast<const Header*>(memory->data());
        *slot_count = header->slot_count;
        *data_bytes = header->data_bytes;
        const bool power_of_two = (*slot_count & (*slot_count - 1)) == 0 &&
                                  (layout == Layout::event || (*data_bytes & (*data_bytes - 1)) == 0);
        const size_t needed = mapping_bytes(*slot_count, *data_bytes);
        if (header->magic == mapping_magic && header->version == version &&
            header->layout == static_cast<uint32_t>(layout) && power_of_two &&
            (*slot_count != 0) == (layout == Layout::slots) && needed != 0 && bytes >= needed)
            return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the shared memory the server handed over is not of the form expected");
}

Status Link::take_up(int socket, Layout layout, WaitPolicy policy, std::string server_name, const Deadline& deadline,
                     Link** link, MemoryOptions options) {
    posix::Descriptor connection(socket);
    posix::Descriptor file;
    Mapping memory;
    uint32_t slot_count = 0;
    uint64_t data_bytes = 0;
    Status status = receive_greeting(socket, layout, deadline, &file);
    if (!status) status = check_and_map(file, layout, &memory, &slot_count, &data_bytes);
    if (!status && options.prefault) status = prefault(memory);
    if (status) {
        if (status == IPC_PEER_CLOSED) posix::forget_dead_server(server_name, socket);
        return status;
    }
    *link =
        new Link(connection.release(), std::move(memory), 0, slot_count, data_bytes, policy, std::move(server_name));
    return IPC_OK;
}

Status Link::look_at_peer() {
    char byte;
    const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return IPC_OK;
    if (got > 0) return fail(IPC_NOT_OUR_PROTOCOL, "the peer sent bytes where shared memory alone should carry them");
    if (!peer_gone_.exchange(true) && !server_name_.empty()) posix::forget_dead_server(server_name_, socket_);
    return fail(IPC_PEER_CLOSED, "the peer is gone");
}

void Link::hang_up() {
    shutdown(socket_, SHUT_RDWR);
}

} // namespace ipc::shared_memory
