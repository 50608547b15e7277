#include "transports/shm_event/event_channel.hpp"

#include <cstring>

namespace ipc::shm_event {
namespace {

constexpr uint32_t empty = 0;
constexpr uint32_t full = 1;

} // namespace

EventChannel::EventChannel(std::unique_ptr<shared_memory::Segment> segment, size_t limit)
    : FrameChannel(limit), segment_(std::move(segment)), out_(segment_->header().event[segment_->side()]),
      in_(segment_->header().event[segment_->side() ^ 1]) {}

std::byte* EventChannel::block(unsigned side) const {
    return segment_->memory() + shared_memory::header_bytes + side * segment_->data_bytes();
}

Status EventChannel::wait_handle(intptr_t* handle) const {
    *handle = -1;
    return fail(
        IPC_NOT_AVAILABLE,
        "over shared memory a message makes no system call, so there is nothing that an event loop could wait on: "
        "receive on a thread of its own, or use unix or tcp");
}

Status EventChannel::wait_until_empty(size_t length, const Deadline& deadline) {
    if (length > segment_->data_bytes())
        return fail(IPC_MESSAGE_TOO_LARGE,
                    "a message of %zu bytes does not fit the block of %llu the server made: raise max= there", length,
                    static_cast<unsigned long long>(segment_->data_bytes()));
    if (segment_->ended()) [[unlikely]]
        if (Status s = segment_->why_ended()) return sending_ended(s);
    // Acquire: the reader is done with the block before we write into it again.
    const Status s = segment_->wait(segment_->outgoing().writer_parked, send_budget_, deadline,
                                    [this] { return out_.state.load(std::memory_order_acquire) == empty; });
    return s == IPC_OK ? IPC_OK : sending_ended(s);
}

void EventChannel::publish(FrameKind kind, uint32_t id, size_t length) {
    out_.length.store(static_cast<uint32_t>(length), std::memory_order_relaxed);
    out_.kind.store(static_cast<uint32_t>(kind), std::memory_order_relaxed);
    out_.id.store(id, std::memory_order_relaxed);
    // Release: whoever sees the block full sees all that was written into it.
    out_.state.store(full, std::memory_order_release);
    segment_->wake_if_parked(segment_->outgoing().reader_parked);
}

Status EventChannel::send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) {
    if (Status s = wait_until_empty(length, deadline)) return s;
    if (length != 0) std::memcpy(block(segment_->side()), data, length);
    publish(kind, id, length);
    return IPC_OK;
}

Status EventChannel::reserve(size_t length, void** data, const Deadline& deadline) {
    if (Status s = wait_until_empty(length, deadline)) return s;
    *data = block(segment_->side());
    return IPC_OK;
}

Status EventChannel::commit(FrameKind kind, uint32_t id, size_t length, const Deadline&) {
    if (segment_->ended()) [[unlikely]]
        if (Status s = segment_->why_ended()) return sending_ended(s);
    publish(kind, id, length);
    return IPC_OK;
}

Status EventChannel::next(FrameInfo* info, const Deadline& deadline) {
    if (receiving_failure_.any()) [[unlikely]]
        return receiving_failure();
    if (!has_message_) {
        auto is_full = [this] { return in_.state.load(std::memory_order_acquire) == full; };
        if (Status s = segment_->wait(segment_->incoming().reader_parked, receive_budget_, deadline, is_full))
            return receiving_ended(s);
        // Copied once: the peer can change them while we check.
        info_ = {static_cast<FrameKind>(in_.kind.load(std::memory_order_relaxed)),
                 in_.id.load(std::memory_order_relaxed), in_.length.load(std::memory_order_relaxed)};
        const auto kind = static_cast<uint32_t>(info_.kind);
        if (kind < 1 || kind > 4)
            return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged block: kind %u", kind));
        if (info_.length > limit() || info_.length > segment_->data_bytes())
            return give_up(fail(IPC_PEER_TOO_LARGE,
                                "the peer sends a message of %zu bytes over this channel's limit of %zu: raise it "
                                "with max= at both ends",
                                info_.length, limit()));
        has_message_ = true;
    }
    *info = info_;
    return IPC_OK;
}

Status EventChannel::take(void* buffer, const Deadline&) {
    if (info_.length != 0) std::memcpy(buffer, block(segment_->side() ^ 1), info_.length);
    return release();
}

Status EventChannel::view(const void** data, const Deadline&) {
    *data = block(segment_->side() ^ 1);
    return IPC_OK;
}

Status EventChannel::release() {
    has_message_ = false;
    // Release: our reading is over before the writer writes again.
    in_.state.store(empty, std::memory_order_release);
    segment_->wake_if_parked(segment_->incoming().writer_parked);
    return IPC_OK;
}

} // namespace ipc::shm_event
