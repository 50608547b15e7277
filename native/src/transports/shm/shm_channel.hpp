#pragma once

#include "core/frame_channel.hpp"
#include "core/growing_buffer.hpp"
#include "transports/shm/ring_reader.hpp"
#include "transports/shm/ring_writer.hpp"

#include <algorithm>
#include <memory>

namespace ipc::shm {

// A channel over two rings. Messages up to `whole_record_` bytes are one record; longer ones go as several, so that the
// reader copies out while the writer copies in. What happens to a short message is here in the header, to be compiled into
// one with the session; the rest is in shm_channel.cpp.
class ShmChannel final : public FrameChannel {
  public:
    ShmChannel(std::unique_ptr<shared_memory::Segment> segment, size_t limit);

    IPC_IN_LINE Status send(FrameKind kind, uint32_t id, const void* data, size_t length,
                            const Deadline& deadline) override {
        if (length > writer_.longest_in_slots())
            return send_data(static_cast<uint32_t>(kind), id, data, length, deadline);
        if (Status s = put_in_slots(data, length, deadline)) return s;
        writer_.publish_in_slots(static_cast<uint32_t>(kind), id, length);
        return IPC_OK;
    }

    // *done: bytes of the payload.
    Status send_some(FrameKind kind, uint32_t id, const void* data, size_t length, size_t* done,
                     const Deadline& deadline) override {
        if (length <= whole_record_) [[likely]]
            return send(kind, id, data, length, deadline);
        return send_in_records(static_cast<uint32_t>(kind), id, static_cast<const std::byte*>(data), length, done,
                               deadline);
    }

    Status reserve(size_t length, void** data, const Deadline& deadline) override {
        if (length > writer_.longest_in_slots()) return reserve_data(length, data, deadline);
        if (Status s = writer_.wait_for_slots(length, deadline)) return sending_ended(s);
        *data = writer_.slot_room();
        room_ = Room::slots;
        return IPC_OK;
    }

    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) override {
        if (room_ != Room::slots) return commit_data(static_cast<uint32_t>(kind), id, length, deadline);
        if (segment_->ended()) [[unlikely]]
            if (Status s = segment_->why_ended()) return sending_ended(s);
        publish(kind, id, length);
        return IPC_OK;
    }

    // Beyond FrameChannel, for SessionOver: as send, of a request whose reply the caller takes before it sends anything else; and the reply
    // to the request that is held.
    Status send_awaited(uint32_t id, const void* data, size_t length, const Deadline& deadline) {
        if (awaited_ != 0 || length > writer_.longest_in_slots() || !reader_.try_to_tell()) [[unlikely]]
            return send(FrameKind::request, id, data, length, deadline);
        if (Status s = put_in_slots(data, length, deadline)) return s;
        awaited_ = id;
        writer_.publish_in_turn(static_cast<uint32_t>(FrameKind::request), id, length);
        return IPC_OK;
    }
    Status answer(uint32_t id, const void* data, size_t length, const Deadline& deadline) {
        if (length > writer_.longest_in_slots())
            return send_data(static_cast<uint32_t>(FrameKind::reply), id, data, length, deadline);
        if (Status s = put_in_slots(data, length, deadline)) return s;
        publish(FrameKind::reply, id, length);
        return IPC_OK;
    }

    // Beyond FrameChannel, for SessionOver: room that is there already, of so many bytes, and its sending. None while the peer's
    // reading has to be waited for, or to be looked at.
    size_t ready_room(void** data) {
        *data = writer_.slot_room();
        return std::min(writer_.ready_bytes(), limit());
    }
    Status commit_ready(FrameKind kind, uint32_t id, size_t length) {
        if (segment_->ended()) [[unlikely]]
            if (Status s = segment_->why_ended()) return sending_ended(s);
        writer_.used_of_ready(length);
        publish(kind, id, length);
        return IPC_OK;
    }

    Status send_many(const std::byte* messages, const uint32_t* lengths, size_t count, size_t* sent,
                     const Deadline& deadline) override {
        size_t wanted;
        const auto kind = static_cast<uint32_t>(FrameKind::message);
        *sent = writer_.publish_many(kind, messages, lengths, count, &wanted);
        if (*sent != 0 || wanted == 0) [[likely]]
            return IPC_OK;
        if (Status s = writer_.wait_for_data(wanted, deadline)) return sending_ended(s);
        *sent = writer_.publish_many(kind, messages, lengths, count, &wanted);
        return IPC_OK;
    }

    Status next(FrameInfo* info, const Deadline& deadline) override {
        if (held_ != Held::message) [[likely]] {
            if (cannot_go_on()) [[unlikely]]
                if (Status s = go_on(deadline)) return s;
            if (Status s = reader_.wait_for_record(&record_, deadline)) return receiving_ended(s);
            if (Status s = check_first()) return s;
            if (record_.in_turn()) writer_.turn_came();
            held_ = Held::message;
        }
        *info = {static_cast<FrameKind>(record_.kind_and_flags & kind_mask), record_.id, message_bytes_};
        return IPC_OK;
    }

    Status take(void* buffer, const Deadline& deadline) override {
        if (!record_.in_slots()) return take_data(buffer, deadline);
        copy_payload(static_cast<std::byte*>(buffer), record_.bytes, record_.length);
        end_record();
        return IPC_OK;
    }

    // Beyond FrameChannel, for SessionOver: as memcpy, faster for what is short.
    static void copy_bytes(void* to, const void* from, size_t length) {
        copy_payload(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), length);
    }

    // Beyond FrameChannel, for SessionOver: next() and take() in one if what comes next is this; see RingReader.
    bool take_next(FrameKind kind, uint32_t id, bool awaited, void* buffer, size_t capacity, size_t* length) {
        if (cannot_go_on()) return false;
        bool in_turn;
        if (!reader_.take_next(static_cast<uint32_t>(kind), id, awaited, static_cast<std::byte*>(buffer),
                               std::min(capacity, limit()), length, &in_turn))
            return false;
        if (awaited) {
            if (in_turn) writer_.turn_came();
            if (id == awaited_) awaited_ = 0;
        }
        return true;
    }

    // The same of next() and view(); `id` of the frame.
    IPC_IN_LINE bool view_next(FrameKind kind, bool awaited, const void** data, size_t* length, uint32_t* id) {
        if (cannot_go_on() || !reader_.look(static_cast<uint32_t>(kind), awaited, limit(), &record_)) return false;
        if (record_.in_turn()) writer_.turn_came();
        held_ = Held::message;
        message_bytes_ = record_.length;
        *data = record_.bytes;
        *length = record_.length;
        *id = record_.id;
        return true;
    }

    // Beyond FrameChannel, for SessionOver, after a request is sent: what take_next leaves undone when an answer has come.
    void settle() { reader_.settle(); }

    size_t take_many(std::byte* buffer, size_t capacity, uint32_t* lengths, size_t max_count) override {
        if (cannot_go_on()) return 0;
        return reader_.take_many(static_cast<uint32_t>(FrameKind::message), buffer, std::min(capacity, limit()),
                                 lengths, max_count);
    }

    Status view(const void** data, const Deadline& deadline) override {
        if (in_several()) return view_several(data, deadline);
        *data = record_.bytes;
        return IPC_OK;
    }

    Status release() override {
        if (in_several()) return release_several();
        end_record();
        return IPC_OK;
    }

    Status ended_here() const override { return segment_->closed_here(); }
    Status wait_handle(intptr_t* handle) const override;
    Status interrupt_receiving(bool on) override {
        segment_->interrupt_receiving(on);
        return IPC_OK;
    }
    void close() override { segment_->close(); }
    ipc_channel* make_own_handle(std::unique_ptr<FrameChannel>& self) override;

  private:
    // Where the room is that was last given out.
    enum class Room : uint8_t { slots, data, buffer };
    // What the receiver's half has begun: a message that next() told of, or one that was dropped and has not all come.
    enum class Held : uint8_t { nothing, message, dropped };

    // A message's bytes, which are published next.
    IPC_IN_LINE Status put_in_slots(const void* data, size_t length, const Deadline& deadline) {
        if (Status s = writer_.wait_for_slots(length, deadline)) return sending_ended(s);
        copy_payload(writer_.slot_room(), static_cast<const std::byte*>(data), length);
        return IPC_OK;
    }
    // A message in slots. The reply to a request in turn tells that the request has been read, if that was so short that nothing is left to
    // be done with its slots.
    IPC_IN_LINE void publish(FrameKind kind, uint32_t id, size_t length) {
        if (kind == FrameKind::reply && RingReader::is_told_by_its_answer(record_) && held_ == Held::message &&
            record_.id == id && reader_.try_to_tell(slots_for(record_.length)))
            writer_.publish_in_turn(static_cast<uint32_t>(kind), id, length);
        else
            writer_.publish_in_slots(static_cast<uint32_t>(kind), id, length);
    }
    IPC_IN_LINE void end_record() {
        held_ = Held::nothing;
        if (record_.id == awaited_) awaited_ = 0;
        reader_.consume(record_);
    }
    void hang_up() override { segment_->hang_up(); }
    // Whether something comes before the record at the read position.
    bool cannot_go_on() const { return held_ != Held::nothing || receiving_failure_.any(); }
    Status go_on(const Deadline& deadline);

    Status send_data(uint32_t kind, uint32_t id, const void* data, size_t length, const Deadline& deadline);
    Status send_in_records(uint32_t kind, uint32_t id, const std::byte* data, size_t length, size_t* done,
                           const Deadline& deadline);
    Status reserve_data(size_t length, void** data, const Deadline& deadline);
    Status commit_data(uint32_t kind, uint32_t id, size_t length, const Deadline& deadline);

    // Checks a message's first record; a peer may have written anything.
    Status check_first() {
        message_bytes_ = record_.length;
        // All in one: a short message of a known kind, by far the most frequent. Kinds are 1 to 4.
        if (record_.in_slots() && (record_.kind_and_flags & kind_mask) - 1 < 4 && message_bytes_ <= limit()) [[likely]]
            return IPC_OK;
        return check_first_thoroughly();
    }
    Status check_first_thoroughly();
    bool in_several() const { return (record_.kind_and_flags & flag_more) != 0; }
    Status take_data(void* buffer, const Deadline& deadline);
    Status gather(std::byte* to, const Deadline& deadline);
    Status view_several(const void** data, const Deadline& deadline);
    Status not_whole(Status status);
    Status release_several();
    void end_several();
    Status no_memory(size_t length) const;

    std::unique_ptr<shared_memory::Segment> segment_;
    RingWriter writer_;
    RingReader reader_;
    size_t whole_record_;

    // sender's half
    Room room_ = Room::slots;
    size_t room_length_ = 0;
    GrowingBuffer send_buffer_; // for reserved rooms no record can hold

    // receiver's half: the message next() told of
    Held held_ = Held::nothing;
    uint32_t awaited_ = 0;        // the request in turn whose reply has not been consumed
    RingReader::Record record_{}; // its first record
    size_t message_bytes_ = 0;
    // ... if it comes in several records
    bool gathered_ = false; // it is whole in receive_buffer_
    size_t gathered_bytes_ = 0;
    GrowingBuffer receive_buffer_;
};

} // namespace ipc::shm
