#include "transports/shm/shm_channel.hpp"

#include "core/conversation_over.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::shm {
namespace {

// Measured: large enough that a record's fixed cost does not show, small enough that both sides copy at the same time.
constexpr size_t preferred_record = 32 * 1024;
constexpr size_t longest_single_record = 64 * 1024;

} // namespace

ShmChannel::ShmChannel(std::unique_ptr<shared_memory::Link> link, size_t limit)
    : FrameChannel(limit), link_(std::move(link)), writer_(*link_), reader_(*link_),
      whole_record_(std::min(longest_single_record, writer_.memory().largest_record())) {}

std::unique_ptr<Conversation> ShmChannel::converse(std::unique_ptr<FrameChannel> self) {
    return std::make_unique<ConversationOver<ShmChannel>>(
        std::unique_ptr<ShmChannel>(static_cast<ShmChannel*>(self.release())));
}

// ---- sending more than a slot holds

Status ShmChannel::send_data(uint32_t kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) {
    if (length > whole_record_) return send_in_records(kind, id, static_cast<const std::byte*>(data), length, deadline);
    if (Status s = writer_.wait_for_data(length, deadline)) return s;
    std::memcpy(writer_.data_room(length), data, length);
    writer_.publish_in_data(kind, id, length);
    return IPC_OK;
}

Status ShmChannel::send_in_records(uint32_t kind, uint32_t id, const std::byte* data, size_t length,
                                   const Deadline& deadline) {
    const size_t portion = std::min(preferred_record, writer_.memory().largest_record());
    for (size_t done = 0; done < length;) {
        const size_t now = std::min(portion, length - done);
        if (Status s = writer_.wait_for_data(now, deadline)) {
            if (done == 0 || s != IPC_TIMED_OUT) return s;
            link_->close(); // the peer must not wait for a rest that will not come
            return fail(IPC_TIMED_OUT,
                        "timed out after %zu of %zu bytes; the message is cut and the channel closed: reconnect", done,
                        length);
        }
        std::memcpy(writer_.data_room(now), data + done, now);
        const bool first = done == 0;
        done += now;
        if (first) writer_.put_total(length);
        writer_.publish_in_data(kind | (done < length ? flag_more : 0) | (first ? 0 : flag_continues), id, now);
    }
    return IPC_OK;
}

Status ShmChannel::reserve_data(size_t length, void** data, const Deadline& deadline) {
    if (length > writer_.memory().largest_record()) {
        if (send_buffer_.size() < length) send_buffer_.resize(length);
        *data = send_buffer_.data();
        room_ = Room::buffer;
    } else {
        if (Status s = writer_.wait_for_data(length, deadline)) return s;
        *data = writer_.data_room(length);
        room_ = Room::data;
    }
    room_length_ = length;
    return IPC_OK;
}

Status ShmChannel::commit_data(uint32_t kind, uint32_t id, size_t length, const Deadline& deadline) {
    const Room room = room_;
    room_ = Room::none;
    if (room == Room::buffer) return send(static_cast<FrameKind>(kind), id, send_buffer_.data(), length, deadline);
    // Shorter than reserved, it may have another place: before the end of the area, where the longer one did not fit.
    const std::byte* written = writer_.data_room(room_length_);
    std::byte* place = writer_.data_room(length);
    if (place != written) std::memmove(place, written, length);
    writer_.publish_in_data(kind, id, length);
    return IPC_OK;
}

// ---- receiving more than a slot holds

// Remembers a failure after which nothing that comes can be trusted.
Status ShmChannel::stop_receiving(Status status) {
    if (broken_) return fail(broken_, "the channel is broken: %s", ipc_status_text(broken_));
    if (status == IPC_NOT_OUR_PROTOCOL || status == IPC_PEER_TOO_LARGE || status == IPC_TRUNCATED) {
        has_message_ = false;
        broken_ = status;
        link_->close();
    }
    return status;
}

Status ShmChannel::check_first_thoroughly() {
    const uint32_t kind = record_.kind_and_flags & kind_mask;
    if (kind < 1 || kind > 4 || (record_.kind_and_flags & flag_continues) != 0)
        return stop_receiving(
            fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a damaged record: kind and flags %x", record_.kind_and_flags));
    const uint64_t total = in_several() ? record_.total : record_.length;
    if (total > limit())
        return stop_receiving(fail(
            IPC_PEER_TOO_LARGE,
            "the peer sends a message of %llu bytes over this channel's limit of %zu: raise it with max= at both ends",
            static_cast<unsigned long long>(total), limit()));
    if (total < record_.length)
        return stop_receiving(fail(IPC_NOT_OUR_PROTOCOL, "the peer wrote a record longer than its message"));
    message_bytes_ = static_cast<size_t>(total);
    return IPC_OK;
}

Status ShmChannel::take_data(void* buffer, const Deadline& deadline) {
    if (!in_several()) {
        if (record_.length != 0) std::memcpy(buffer, record_.bytes, record_.length);
        has_message_ = false;
        reader_.consume(record_);
        return IPC_OK;
    }
    if (gathered_) {
        std::memcpy(buffer, receive_buffer_.data(), message_bytes_);
    } else {
        auto* to = static_cast<std::byte*>(buffer);
        if (gathered_bytes_ != 0)
            std::memcpy(to, receive_buffer_.data(), gathered_bytes_); // an earlier attempt timed out
        if (Status s = gather(to, deadline)) return s;
    }
    end_several();
    return IPC_OK;
}

// Copies a message's several records to `to`, consuming them. A time-out leaves what has come in receive_buffer_.
Status ShmChannel::gather(std::byte* to, const Deadline& deadline) {
    RingReader::Record record = record_;
    while (true) {
        if (gathered_bytes_ != 0) {
            if (Status s = reader_.wait_for_record(&record, deadline)) {
                if (s == IPC_TIMED_OUT && to != receive_buffer_.data()) {
                    receive_buffer_.resize(std::max(receive_buffer_.size(), message_bytes_));
                    std::memcpy(receive_buffer_.data(), to, gathered_bytes_);
                }
                if (s == IPC_PEER_CLOSED)
                    s = fail(IPC_TRUNCATED, "the peer ended after %zu of %zu bytes of a message", gathered_bytes_,
                             message_bytes_);
                return stop_receiving(s);
            }
            if ((record.kind_and_flags & flag_continues) == 0)
                return stop_receiving(
                    fail(IPC_NOT_OUR_PROTOCOL, "the peer began a message before the last one was whole"));
        }
        if (record.length == 0 || record.length > message_bytes_ - gathered_bytes_)
            return stop_receiving(fail(IPC_NOT_OUR_PROTOCOL, "the peer's records do not add up to their message"));
        std::memcpy(to + gathered_bytes_, record.bytes, record.length);
        gathered_bytes_ += record.length;
        reader_.consume(record);
        const bool more = (record.kind_and_flags & flag_more) != 0;
        if (more == (gathered_bytes_ == message_bytes_))
            return stop_receiving(fail(IPC_NOT_OUR_PROTOCOL, "the peer's records do not add up to their message"));
        if (!more) return IPC_OK;
    }
}

Status ShmChannel::view_several(const void** data, const Deadline& deadline) {
    if (!gathered_) {
        receive_buffer_.resize(std::max(receive_buffer_.size(), message_bytes_));
        if (Status s = gather(receive_buffer_.data(), deadline)) return s;
        gathered_ = true;
    }
    *data = receive_buffer_.data();
    return IPC_OK;
}

Status ShmChannel::release_several() {
    const void* unseen;
    if (Status s = view_several(&unseen, Deadline(IPC_FOREVER))) return s;
    end_several();
    return IPC_OK;
}

void ShmChannel::end_several() {
    has_message_ = false;
    gathered_ = false;
    gathered_bytes_ = 0;
}

} // namespace ipc::shm
