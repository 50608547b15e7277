#include "transports/mailslot/mailslot_stream_win32.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::mailslot {
namespace {

DWORD slice(const Deadline& deadline) {
    return deadline.forever() ? slice_ms : std::min(slice_ms, static_cast<DWORD>(deadline.left_ms()));
}

Status garbage() {
    return fail(IPC_NOT_OUR_PROTOCOL,
                "what came through the mailslot is no fragment of this connection, or one is missing: connect again");
}

} // namespace

// ---- the reader

Status MailslotStream::read(void* buffer, size_t capacity, Fill, const Deadline& deadline, size_t* count) {
    *count = 0;
    bool last_look = false;
    while (fragment_begin_ == fragment_end_) {
        if (peer_ended_) return IPC_OK;
        // A fragment goes straight to where it belongs if there is room for it and its trailer.
        const bool in_place = capacity >= room_size;
        std::byte* room = in_place ? static_cast<std::byte*>(buffer) : fragment_.data();
        size_t length = 0;
        const Status status = slots_.in.receive(room, room_size, last_look ? 0 : slice(deadline), interrupt_, &length);
        if (status == IPC_TIMED_OUT) {
            if (last_look) return IPC_OK;
            // Once the peer is gone nothing new can come: what is not there at the next look never will be.
            last_look = peer_.ended();
            if (!last_look && deadline.expired()) return status;
            continue;
        }
        if (status != IPC_OK) return status;
        if (Status s = read_fragment(room, length, &length); s != IPC_OK) return s;
        if (in_place) {
            *count = length;
            return IPC_OK;
        }
        fragment_begin_ = 0;
        fragment_end_ = length;
    }
    *count = std::min(capacity, fragment_end_ - fragment_begin_);
    std::memcpy(buffer, fragment_.data() + fragment_begin_, *count);
    fragment_begin_ += *count;
    return IPC_OK;
}

// Checks what came; *count is 0 for the end and for nothing else.
Status MailslotStream::read_fragment(std::byte* room, size_t length, size_t* count) {
    Trailer trailer{};
    if (length < sizeof trailer || length > most_in_message) return garbage();
    *count = length - sizeof trailer;
    std::memcpy(&trailer, room + *count, sizeof trailer);
    if (trailer.magic != magic || trailer.number != read_ + 1) return garbage();
    if (trailer.kind == Kind::end && *count == 0) {
        peer_ended_ = true;
        return IPC_OK;
    }
    if (trailer.kind != Kind::fragment || *count == 0) return garbage();
    ++read_;
    return read_ % told_after == 0 ? tell_read() : IPC_OK;
}

Status MailslotStream::tell_read() {
    const Trailer told{magic, Kind::read, read_};
    const std::lock_guard lock(telling_);
    const Status status = send(slots_.out_read_by_us, &told, sizeof told, Deadline(IPC_FOREVER));
    // A peer that has gone may still have left fragments to read.
    return status == IPC_PEER_CLOSED ? IPC_OK : status;
}

// ---- the writer

Status MailslotStream::write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) {
    const std::lock_guard lock(writing_);
    const size_t total = head.length + body.length;
    while (*written < total) {
        if (Status s = wait_for_window(deadline); s != IPC_OK) return s;
        // A mailslot takes one run of bytes.
        const size_t count = std::min(total - *written, most_in_fragment);
        const size_t of_head = *written < head.length ? std::min(count, head.length - *written) : 0;
        const size_t in_body = *written + of_head - head.length;
        if (of_head != 0) std::memcpy(leaving_.data(), static_cast<const std::byte*>(head.data) + *written, of_head);
        if (count != of_head)
            std::memcpy(leaving_.data() + of_head, static_cast<const std::byte*>(body.data) + in_body, count - of_head);
        const Trailer trailer{magic, Kind::fragment, sent_ + 1};
        std::memcpy(leaving_.data() + count, &trailer, sizeof trailer);
        if (Status s = send(slots_.out, leaving_.data(), count + sizeof trailer, deadline); s != IPC_OK) return s;
        ++sent_;
        *written += count;
    }
    return IPC_OK;
}

Status MailslotStream::wait_for_window(const Deadline& deadline) {
    while (true) {
        if (interrupt_.raised()) return IPC_CLOSED;
        if (peer_ended_) return IPC_PEER_CLOSED;
        if (sent_ - read_by_peer_ < window) return IPC_OK;
        const Status status = take_read(slice(deadline));
        if (status == IPC_TIMED_OUT) {
            if (peer_.ended()) return IPC_PEER_CLOSED;
            if (deadline.expired()) return IPC_TIMED_OUT;
        } else if (status != IPC_OK) {
            return status;
        }
    }
}

// Takes the next message about what the peer has read.
Status MailslotStream::take_read(DWORD patience_ms) {
    std::byte room[sizeof(Trailer) + 1];
    Trailer told{};
    size_t length = 0;
    if (Status s = slots_.in_read_by_peer.receive(room, sizeof room, patience_ms, interrupt_, &length); s != IPC_OK)
        return s;
    if (length != sizeof told) return garbage();
    std::memcpy(&told, room, sizeof told);
    if (told.magic != magic) return garbage();
    if (told.kind == Kind::end) return IPC_PEER_CLOSED;
    if (told.kind != Kind::read || told.number <= read_by_peer_ || told.number > sent_) return garbage();
    read_by_peer_ = told.number;
    return IPC_OK;
}

// ---- both

Status MailslotStream::send(SlotWriter& to, const void* message, size_t length, const Deadline& deadline) {
    while (true) {
        const Status status = to.send(message, length);
        if (status != IPC_TIMED_OUT) return status;
        if (interrupt_.raised()) return IPC_CLOSED;
        if (peer_.ended()) return IPC_PEER_CLOSED;
        if (deadline.expired()) return IPC_TIMED_OUT;
    }
}

void MailslotStream::interrupt() {
    if (!interrupt_.event() || !interrupt_.raise()) return;
    // Nobody holds these for longer than a slice now.
    {
        const std::lock_guard lock(writing_);
        say_end(slots_.out, sent_ + 1);
    }
    const std::lock_guard lock(telling_);
    say_end(slots_.out_read_by_us, 0);
}

// There is room for it behind a full window, so that it never waits for the peer.
void MailslotStream::say_end(SlotWriter& to, uint64_t number) {
    const Trailer trailer{magic, Kind::end, number};
    to.send(&trailer, sizeof trailer);
}

} // namespace ipc::mailslot
