#include "fragments/fragment_channel.hpp"

#include "core/frame_header.hpp"
#include "shared_memory/segment.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace ipc::fragments {
namespace {

using shared_memory::sleep_slice_ns;

Status closed() {
    return fail(IPC_CLOSED, "this channel was closed here");
}

} // namespace

FragmentChannel::FragmentChannel(std::unique_ptr<FragmentCarrier> carrier, std::shared_ptr<PeerSocket> peer,
                                 size_t limit, bool spins)
    : FrameChannel(limit), carrier_(std::move(carrier)), peer_(std::move(peer)), spins_(spins) {}

Status FragmentChannel::check(const FirstFailure& failure) const {
    if (closed_) return closed();
    return failure.repeat();
}

Status FragmentChannel::ended_here() const {
    return closed_ ? closed() : IPC_OK;
}

void FragmentChannel::hang_up() {
    peer_->close();
}

// What stops a wait of one half: closed here, or broken by the other half.
Status FragmentChannel::stopped(const FirstFailure& failure) const {
    const Status status = check(failure);
    return status != IPC_OK ? status : closed();
}

bool FragmentChannel::in_one_fragment(size_t length) const {
    return length <= carrier_->fragment_bytes() - frame_header_size;
}

template <class Step>
Status FragmentChannel::for_a_slice(int64_t slice, Step step) {
    if (!spins_ || slice <= 0) return step(slice);
    // The clock is read after a run of spin iterations; a peer on the same processor can only answer if we let it run.
    const int64_t start = shared_memory::now_ns();
    for (bool first_run = true;; first_run = false) {
        for (int iteration = 0; iteration < shared_memory::spin_iterations; ++iteration) {
            const Status status = step(0);
            if (status != IPC_TIMED_OUT) return status;
            shared_memory::relax();
        }
        if (peer_->closed_here() || shared_memory::now_ns() - start >= slice) return IPC_TIMED_OUT;
        if (!first_run) std::this_thread::yield();
    }
}

// ---- sender's half

Status FragmentChannel::send_fragment(Chunk head, Chunk body, const Deadline& deadline) {
    while (true) {
        // Asked before closed_here: closing here looks like the peer's end to a look that comes after it, by a thread of either half.
        const bool gone_before = peer_->gone();
        if (peer_->closed_here()) return stopped(sending_failure_);
        if (gone_before) return fail(IPC_PEER_CLOSED, "the peer has closed the connection or died: reconnect");
        const Status status = for_a_slice(std::min(deadline.left_ns(), sleep_slice_ns),
                                          [&](int64_t patience_ns) { return carrier_->send(head, body, patience_ns); });
        if (status != IPC_TIMED_OUT) return status;
        bool gone = false;
        if (Status s = look_before_another_slice(sending_failure_, deadline, &gone)) return s;
        if (!gone && deadline.expired()) return fail(IPC_TIMED_OUT, "the peer took nothing within the time-out");
    }
}

Status FragmentChannel::send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) {
    if (Status s = check(sending_failure_)) return s;
    std::byte header[frame_header_size];
    write_frame_header(header, kind, id, length);
    const auto* bytes = static_cast<const std::byte*>(data);
    const bool whole = in_one_fragment(length);
    Status status = send_fragment({header, sizeof header}, {bytes, whole ? length : 0}, deadline);
    if (status == IPC_TIMED_OUT || status == IPC_CLOSED) return status;
    for (size_t sent = 0; !status && !whole && sent < length;) {
        const size_t part = std::min(length - sent, carrier_->fragment_bytes());
        status = send_fragment({bytes + sent, part}, {nullptr, 0}, deadline);
        if (status == IPC_TIMED_OUT)
            return give_up(
                fail(status, "the time-out passed half-way through a message, so the channel is broken: reconnect"));
        sent += part;
    }
    return status == IPC_OK || status == IPC_CLOSED ? status : sending_failure_.keep(status);
}

Status FragmentChannel::reserve(size_t length, void** data, const Deadline&) {
    if (Status s = check(sending_failure_)) return s;
    if (!room_.grow(std::max<size_t>(length, 1)))
        return fail(IPC_OUT_OF_MEMORY, "no memory for a message of %zu bytes", length);
    *data = room_.data();
    return IPC_OK;
}

Status FragmentChannel::commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) {
    return send(kind, id, room_.data(), length, deadline);
}

// ---- both

Status FragmentChannel::look_before_another_slice(const FirstFailure& failure, const Deadline& deadline,
                                                  bool* seen_gone) {
    if (peer_->closed_here()) return stopped(failure);
    if (Status s = peer_->look(deadline)) return s;
    *seen_gone = peer_->gone();
    return IPC_OK;
}

// ---- receiver's half

Status FragmentChannel::peer_ended() {
    if ((has_frame_ && payload_ == nullptr && arrived_ < frame_.length) || dropped_ != 0)
        return give_up(
            fail(IPC_TRUNCATED, "the peer closed the connection or died in the middle of a message: reconnect"));
    return receiving_failure_.keep(fail(IPC_PEER_CLOSED, "the peer closed the connection or died: reconnect"));
}

Status FragmentChannel::receive_fragment(std::byte* wanted, const std::byte** fragment, size_t* length,
                                         const Deadline& deadline) {
    while (true) {
        // Once the peer is gone nothing new can come: what is not there now never will be. Asked before closed_here, as in send_fragment.
        const bool last_look = peer_->gone();
        if (peer_->closed_here()) return stopped(receiving_failure_);
        const int64_t patience_ns = last_look ? 0 : std::min(deadline.left_ns(), sleep_slice_ns);
        const Status status = for_a_slice(
            patience_ns, [&](int64_t patience) { return carrier_->receive(wanted, fragment, length, patience); });
        if (status == IPC_OK) [[likely]]
            return IPC_OK;
        if (status == IPC_PEER_CLOSED || (status == IPC_TIMED_OUT && last_look)) return peer_ended();
        if (status != IPC_TIMED_OUT) return give_up(status);
        bool gone = false;
        if (Status s = look_before_another_slice(receiving_failure_, deadline, &gone))
            return s == IPC_CLOSED ? s : give_up(s);
        if (!gone && deadline.expired()) return fail(IPC_TIMED_OUT, "nothing came within the time-out");
    }
}

Status FragmentChannel::payload_fragment(std::byte* to, const Deadline& deadline) {
    const size_t left = has_frame_ ? frame_.length - arrived_ : dropped_;
    const size_t expected = std::min(left, carrier_->fragment_bytes());
    const std::byte* fragment = nullptr;
    size_t length = 0;
    if (Status s =
            receive_fragment(expected == carrier_->fragment_bytes() ? to : nullptr, &fragment, &length, deadline))
        return s;
    if (length != expected)
        return give_up(
            fail(IPC_NOT_OUR_PROTOCOL, "the peer sent a fragment of %zu bytes where %zu were due", length, expected));
    if (to != nullptr && to != fragment) std::memcpy(to, fragment, length);
    if (has_frame_)
        arrived_ += length;
    else
        dropped_ -= length;
    return IPC_OK;
}

Status FragmentChannel::skip_dropped(const Deadline& deadline) {
    while (dropped_ != 0)
        if (Status s = payload_fragment(nullptr, deadline)) return s;
    return IPC_OK;
}

Status FragmentChannel::next(FrameInfo* info, const Deadline& deadline) {
    if (Status s = check(receiving_failure_)) return s;
    if (!has_frame_) {
        if (Status s = skip_dropped(deadline)) return s;
        const std::byte* fragment = nullptr;
        size_t length = 0;
        if (Status s = receive_fragment(nullptr, &fragment, &length, deadline)) return s;
        // The carrier's memory may be the peer's too: the header is copied before it is looked at.
        std::byte header[frame_header_size];
        FrameInfo frame{};
        if (length >= sizeof header) std::memcpy(header, fragment, sizeof header);
        if (length < sizeof header || !read_frame_header(header, &frame))
            return give_up(
                fail(IPC_NOT_OUR_PROTOCOL, "the peer sent a fragment of %zu bytes that begins no message", length));
        if (frame.length > limit())
            return give_up(fail(IPC_PEER_TOO_LARGE,
                                "the peer sends a message of %zu bytes over this channel's limit of "
                                "%zu: raise it with max= at both ends",
                                frame.length, limit()));
        const bool whole = in_one_fragment(frame.length);
        if (length != sizeof header + (whole ? frame.length : 0))
            return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer sent %zu bytes with the header of a message of %zu",
                                length, frame.length));
        frame_ = frame;
        payload_ = whole ? fragment + sizeof header : nullptr;
        arrived_ = 0;
        has_frame_ = true;
    }
    *info = frame_;
    return IPC_OK;
}

Status FragmentChannel::gather(const Deadline& deadline) {
    if (!gathered_.grow(frame_.length))
        return fail(IPC_OUT_OF_MEMORY, "no memory for a message of %zu bytes", frame_.length);
    while (arrived_ < frame_.length)
        if (Status s = payload_fragment(gathered_.data() + arrived_, deadline)) return s;
    return IPC_OK;
}

Status FragmentChannel::take(void* buffer, const Deadline& deadline) {
    if (Status s = check(receiving_failure_)) return s;
    auto* to = static_cast<std::byte*>(buffer);
    if (payload_ != nullptr) {
        if (frame_.length != 0) std::memcpy(to, payload_, frame_.length);
        return release();
    }
    if (arrived_ != 0) {
        // Begun before, by a call that timed out: the beginning is in gathered_.
        if (Status s = gather(deadline)) return s;
        std::memcpy(to, gathered_.data(), frame_.length);
        return release();
    }
    while (arrived_ < frame_.length) {
        const Status status = payload_fragment(to + arrived_, deadline);
        if (!status) continue;
        if (status == IPC_TIMED_OUT) {
            // The next call may come with another buffer.
            if (!gathered_.grow(frame_.length))
                return give_up(fail(IPC_OUT_OF_MEMORY, "no memory for the rest of a message"));
            std::memcpy(gathered_.data(), to, arrived_);
        }
        return status;
    }
    return release();
}

Status FragmentChannel::view(const void** data, const Deadline& deadline) {
    if (Status s = check(receiving_failure_)) return s;
    if (payload_ == nullptr) {
        if (Status s = gather(deadline)) return s;
        *data = gathered_.data();
    } else {
        *data = payload_;
    }
    return IPC_OK;
}

Status FragmentChannel::release() {
    if (payload_ == nullptr) dropped_ = frame_.length - arrived_;
    has_frame_ = false;
    payload_ = nullptr;
    return IPC_OK;
}

} // namespace ipc::fragments
