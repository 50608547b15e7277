#include "transports/shm/shm_channel.hpp"

#include "core/channel_handle_over.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::shm {
namespace {

// Measured: large enough that a record's fixed cost does not show, small enough that both sides copy at the same time.
constexpr size_t preferred_record = 32 * 1024;
constexpr size_t longest_single_record = 64 * 1024;

} // namespace

ShmChannel::ShmChannel(std::unique_ptr<shared_memory::Segment> segment, size_t limit)
    : FrameChannel(limit), segment_(std::move(segment)), writer_(*segment_), reader_(*segment_),
      whole_record_(std::min(longest_single_record, writer_.memory().largest_record())) {}

ipc_channel* ShmChannel::make_own_handle(std::unique_ptr<FrameChannel>& self) {
    return make_handle_over<ShmChannel>(self).release();
}

// ---- failures

// What comes before the record at the read position: the failure to repeat, or the rest of a message that was dropped.
Status ShmChannel::go_on(const Deadline& deadline) {
    if (Status s = receiving_failure()) return s;
    if (Status s = gather(nullptr, deadline)) return s;
    end_several();
    return IPC_OK;
}

Status ShmChannel::no_memory(size_t length) const {
    return fail(IPC_OUT_OF_MEMORY, "there is no memory for a message of %zu bytes: send smaller ones", length);
}

Status ShmChannel::wait_handle(intptr_t* handle) const {
    *handle = -1;
    return fail(
        IPC_NOT_AVAILABLE,
        "over shared memory a message makes no system call, so there is nothing that an event loop could wait on: "
        "receive on a thread of its own, or use unix or tcp");
}

// ---- sending more than a slot holds

Status ShmChannel::send_data(uint32_t kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) {
    if (length > whole_record_) {
        size_t done = 0;
        const Status s = send_in_records(kind, id, static_cast<const std::byte*>(data), length, &done, deadline);
        if (s != IPC_TIMED_OUT || done == 0) return s;
        // The peer must not wait for a rest that will not come.
        return give_up(
            fail(IPC_TIMED_OUT,
                 "the time-out passed after %zu of %zu bytes of a message, so the channel is broken: reconnect", done,
                 length));
    }
    if (Status s = writer_.wait_for_data(length, deadline)) return sending_ended(s);
    std::memcpy(writer_.data_room(length), data, length);
    writer_.publish_in_data(kind, id, length);
    return IPC_OK;
}

// From the byte *done on, as far as there is room until the deadline.
Status ShmChannel::send_in_records(uint32_t kind, uint32_t id, const std::byte* data, size_t length, size_t* done,
                                   const Deadline& deadline) {
    const size_t portion = std::min(preferred_record, writer_.memory().largest_record());
    while (*done < length) {
        const size_t now = std::min(portion, length - *done);
        if (Status s = writer_.wait_for_data(now, deadline)) return sending_ended(s);
        std::memcpy(writer_.data_room(now), data + *done, now);
        const bool first = *done == 0;
        *done += now;
        if (first) writer_.put_total(length);
        writer_.publish_in_data(kind | (*done < length ? flag_more : 0) | (first ? 0 : flag_continues), id, now);
    }
    return IPC_OK;
}

Status ShmChannel::reserve_data(size_t length, void** data, const Deadline& deadline) {
    if (length > writer_.memory().largest_record()) {
        if (Status s = sending_failure()) return s;
        if (!send_buffer_.grow(length)) return no_memory(length);
        *data = send_buffer_.data();
        room_ = Room::buffer;
    } else {
        if (Status s = writer_.wait_for_data(length, deadline)) return sending_ended(s);
        *data = writer_.data_room(length);
        room_ = Room::data;
    }
    room_length_ = length;
    return IPC_OK;
}

Status ShmChannel::commit_data(uint32_t kind, uint32_t id, size_t length, const Deadline& deadline) {
    if (room_ == Room::buffer) return send(static_cast<FrameKind>(kind), id, send_buffer_.data(), length, deadline);
    if (segment_->ended())
        if (Status s = segment_->why_ended()) return sending_ended(s);
    // Shorter than reserved, it may have another place: before the end of the area, where the longer one did not fit.
    const std::byte* written = writer_.data_room(room_length_);
    std::byte* place = writer_.data_room(length);
    if (place != written) std::memmove(place, written, length);
    writer_.publish_in_data(kind, id, length);
    return IPC_OK;
}

// ---- receiving more than a slot holds

Status ShmChannel::check_first_thoroughly() {
    const uint32_t kind = record_.kind_and_flags & kind_mask;
    if (kind < 1 || kind > 4 || (record_.kind_and_flags & flag_continues) != 0)
        return give_up(
            fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged record: kind and flags %x", record_.kind_and_flags));
    const uint64_t total = in_several() ? record_.total : record_.length;
    if (total > limit())
        return give_up(fail(
            IPC_PEER_TOO_LARGE,
            "the peer sends a message of %llu bytes over this channel's limit of %zu: raise it with max= at both ends",
            static_cast<unsigned long long>(total), limit()));
    if (total < record_.length)
        return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a record longer than its message"));
    message_bytes_ = static_cast<size_t>(total);
    return IPC_OK;
}

Status ShmChannel::take_data(void* buffer, const Deadline& deadline) {
    if (!in_several()) {
        if (record_.length != 0) std::memcpy(buffer, record_.bytes, record_.length);
        end_record();
        return IPC_OK;
    }
    if (gathered_) {
        std::memcpy(buffer, receive_buffer_.data(), message_bytes_);
    } else {
        auto* to = static_cast<std::byte*>(buffer);
        if (gathered_bytes_ != 0)
            std::memcpy(to, receive_buffer_.data(), gathered_bytes_); // an earlier attempt timed out
        if (Status s = gather(to, deadline)) return not_whole(s);
    }
    end_several();
    return IPC_OK;
}

// Copies a message's several records to `to`, or, null, to nowhere, consuming them. A time-out leaves what has come in
// receive_buffer_.
Status ShmChannel::gather(std::byte* to, const Deadline& deadline) {
    RingReader::Record record = record_;
    while (true) {
        if (gathered_bytes_ != 0) {
            if (Status s = reader_.wait_for_record(&record, deadline)) {
                if (s == IPC_TIMED_OUT && to != nullptr && to != receive_buffer_.data()) {
                    if (!receive_buffer_.grow(message_bytes_)) return give_up(no_memory(message_bytes_));
                    std::memcpy(receive_buffer_.data(), to, gathered_bytes_);
                }
                if (s == IPC_PEER_CLOSED)
                    s = fail(IPC_TRUNCATED, "the peer ended after %zu of %zu bytes of a message", gathered_bytes_,
                             message_bytes_);
                return receiving_ended(s);
            }
            if ((record.kind_and_flags & flag_continues) == 0)
                return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer began a message before the last one was whole"));
        }
        if (record.length == 0 || record.length > message_bytes_ - gathered_bytes_)
            return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer's records do not add up to their message"));
        if (to != nullptr) std::memcpy(to + gathered_bytes_, record.bytes, record.length);
        gathered_bytes_ += record.length;
        reader_.consume(record);
        const bool more = (record.kind_and_flags & flag_more) != 0;
        if (more == (gathered_bytes_ == message_bytes_))
            return give_up(fail(IPC_NOT_OUR_PROTOCOL, "the peer's records do not add up to their message"));
        if (!more) return IPC_OK;
    }
}

// Only a time-out leaves the message to be asked for again.
Status ShmChannel::not_whole(Status status) {
    if (status != IPC_TIMED_OUT || receiving_failure_.any()) held_ = Held::nothing;
    return status;
}

Status ShmChannel::view_several(const void** data, const Deadline& deadline) {
    if (!gathered_) {
        if (!receive_buffer_.grow(message_bytes_)) return no_memory(message_bytes_);
        if (Status s = gather(receive_buffer_.data(), deadline)) return not_whole(s);
        gathered_ = true;
    }
    *data = receive_buffer_.data();
    return IPC_OK;
}

Status ShmChannel::release_several() {
    if (gathered_)
        end_several();
    else
        held_ = Held::dropped;
    return IPC_OK;
}

void ShmChannel::end_several() {
    held_ = Held::nothing;
    if (record_.id == awaited_) awaited_ = 0;
    gathered_ = false;
    gathered_bytes_ = 0;
}

} // namespace ipc::shm
