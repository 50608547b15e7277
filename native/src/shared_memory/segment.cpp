#include "shared_memory/segment.hpp"

namespace ipc::shared_memory {
namespace {

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

// Maps what the server handed over and takes its numbers, which it may change at any time, over once.
Status check_and_map(const MemoryFile& file, Layout layout, Mapping* memory, uint32_t* slot_count,
                     uint64_t* data_bytes) {
    // Could the server shrink the memory under us, touching it would kill this process.
    const size_t bytes = sealed_bytes(file);
    if (bytes >= header_bytes) {
        if (Status s = map_memory(file, bytes, Access::read_write, memory)) return s;
        const volatile auto* header = reinterpret_cast<const Header*>(memory->data());
        *slot_count = header->slot_count;
        *data_bytes = header->data_bytes;
        const bool power_of_two = (*slot_count & (*slot_count - 1)) == 0 &&
                                  (layout == Layout::event || (*data_bytes & (*data_bytes - 1)) == 0);
        const size_t needed = mapping_bytes(*slot_count, *data_bytes);
        if (header->magic == mapping_magic && header->version == version_of(layout) &&
            header->layout == static_cast<uint32_t>(layout) && power_of_two &&
            (*slot_count != 0) == (layout == Layout::slots) && needed != 0 && bytes >= needed)
            return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the shared memory the server handed over is not of the form expected");
}

} // namespace

Segment::Segment(std::unique_ptr<Peer> peer, Mapping memory, unsigned side, uint32_t slot_count, uint64_t data_bytes,
                 WaitPolicy policy)
    : memory_(std::move(memory)), outgoing_(&header().ring[side]), incoming_(&header().ring[side ^ 1]), side_(side),
      slot_count_(slot_count), data_bytes_(data_bytes), policy_(policy), peer_(std::move(peer)) {
    // With one processor between the two the peer can only answer when we let go of it.
    policy_.one_processor = peer_->has_one_processor_with_us();
    policy_ = policy_.park_on_one_processor();
    peer_->sleep_on(header());
    auto waits_by = policy.mode == WaitMode::spin ? WaitsBy::spinning : WaitsBy::parking;
    outgoing().waits_by.store(static_cast<uint32_t>(waits_by), std::memory_order_release);
}

Segment::~Segment() {
    close();
}

Status Segment::offer(Connection connection, Layout layout, uint32_t slot_count, uint64_t data_bytes, WaitPolicy policy,
                      Segment** segment, MemoryOptions options) {
    auto peer = std::make_unique<Peer>(connection, std::string());
    size_t bytes = mapping_bytes(slot_count, data_bytes);
    if (bytes == 0)
        return fail(IPC_OUT_OF_MEMORY,
                    "twice %llu bytes of data are more than a process maps: choose a smaller size= or max=",
                    static_cast<unsigned long long>(data_bytes));
    MemoryFile file;
    Mapping memory;
    if (Status s = make_sealed_memory(&bytes, options.pages, &file)) return s;
    if (Status s = map_memory(file, bytes, Access::read_write, &memory)) return s;
    if (options.prefault)
        if (Status s = prefault(memory)) return s;
    auto* header = reinterpret_cast<Header*>(memory.data()); // fresh pages are zero, which is every word's first value
    header->magic = mapping_magic;
    header->version = version_of(layout);
    header->layout = static_cast<uint32_t>(layout);
    header->slot_count = slot_count;
    header->data_bytes = data_bytes;
    if (Status s = peer->hand_over(layout, std::move(file))) return s;
    *segment = new Segment(std::move(peer), std::move(memory), 1, slot_count, data_bytes, policy);
    return IPC_OK;
}

Status Segment::take_up(Connection connection, Layout layout, WaitPolicy policy, std::string server_name,
                        const Deadline& deadline, Segment** segment, MemoryOptions options) {
    auto peer = std::make_unique<Peer>(connection, std::move(server_name));
    MemoryFile file;
    Mapping memory;
    uint32_t slot_count = 0;
    uint64_t data_bytes = 0;
    if (Status s = peer->receive(layout, deadline, &file)) return s;
    if (Status s = check_and_map(file, layout, &memory, &slot_count, &data_bytes)) return s;
    if (options.prefault)
        if (Status s = prefault(memory)) return s;
    *segment = new Segment(std::move(peer), std::move(memory), 0, slot_count, data_bytes, policy);
    return IPC_OK;
}

Status Segment::closed_here() const {
    if ((end_.load(std::memory_order_acquire) & closed) == 0) return IPC_OK;
    return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
}

Status Segment::peer_ended() const {
    return fail(IPC_PEER_CLOSED, "the peer at %s closed the connection or died: reconnect", address_.c_str());
}

Status Segment::reason_to_stop(bool look_at_peer, const Deadline& deadline) {
    const uint32_t ended = end_.load(std::memory_order_acquire);
    if ((ended & (closed | hung_up)) != 0)
        return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
    if (ended != 0 || incoming().closed.load(std::memory_order_acquire) != 0) return peer_ended();
    if (!look_at_peer) return IPC_OK;
    const Status status = peer_->look(deadline);
    if (status == IPC_OK) return IPC_OK;
    // Hanging up here looks like the peer's end to a look that comes after it.
    if ((end_.load(std::memory_order_acquire) & (closed | hung_up)) != 0)
        return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
    if (status != IPC_PEER_CLOSED) return status;
    end_.fetch_or(peer_gone, std::memory_order_relaxed);
    return peer_ended();
}

bool Segment::look_is_due() {
    const int64_t now = coarse_now_ms();
    if (now - looked_ms_.load(std::memory_order_relaxed) < look_interval_ms) [[likely]]
        return false;
    looked_ms_.store(now, std::memory_order_relaxed);
    return true;
}

void Segment::wake(std::atomic<uint32_t>& parked) {
    if (parked.exchange(0, std::memory_order_seq_cst) != 0) futex_wake_all(parked);
}

void Segment::interrupt_receiving(bool on) {
    receiving_interrupted_.store(on, std::memory_order_seq_cst);
    if (on) wake(incoming().reader_parked);
}

void Segment::close() {
    end(closed);
}

void Segment::hang_up() {
    end(hung_up);
}

void Segment::end(uint32_t why) {
    if ((end_.fetch_or(why, std::memory_order_seq_cst) & (closed | hung_up)) != 0) return;
    outgoing().closed.store(1, std::memory_order_seq_cst);
    // The peer may sleep for messages or for room; a thread of our own may too.
    for (RingControl* ring : {&outgoing(), &incoming()}) {
        wake(ring->reader_parked);
        wake(ring->writer_parked);
    }
    peer_->hang_up();
}

} // namespace ipc::shared_memory
