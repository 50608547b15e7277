#pragma once

#include "core/byte_stream.hpp"
#include "transports/mailslot/slot_win32.hpp"
#include "transports/mailslot/wire.hpp"
#include "win32/interrupt.hpp"
#include "win32/peer_process.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ipc::mailslot {

// The four mailslots of a connection: this end reads `in` and `in_read_by_peer`, which the peer writes.
struct Slots {
    Slot in;                   // the peer's fragments
    Slot in_read_by_peer;      // what the peer has read of ours
    SlotWriter out;            // our fragments
    SlotWriter out_read_by_us; // what we have read of the peer's
};

// A stream of bytes in fragments that mailslots carry, docs/wire-formats.md "Mailslots". No more than a window of fragments is
// unread: a mailslot itself never says that it is full. The peer's end shows by its last message or by its process's end.
class MailslotStream final : public ByteStream {
  public:
    MailslotStream(Slots slots, win32::PeerProcess peer) : slots_(std::move(slots)), peer_(std::move(peer)) {}
    // Must succeed before anything else is called.
    Status open() { return interrupt_.open(); }
    ~MailslotStream() override { MailslotStream::interrupt(); }

    Status read(void* buffer, size_t capacity, Fill fill, const Deadline& deadline, size_t* count) override;
    Status write(Chunk head, Chunk body, const Deadline& deadline, size_t* written) override;
    bool goes_on_writing() const override { return false; }
    void interrupt() override;

  private:
    // One more than may come: a longer message shows, which not every system refuses.
    static constexpr size_t room_size = most_in_message + 1;

    Status read_fragment(std::byte* room, size_t length, size_t* count);
    Status tell_read();
    Status wait_for_window(const Deadline& deadline);
    Status take_read(DWORD patience_ms);
    Status send(SlotWriter& to, const void* message, size_t length, const Deadline& deadline);
    void say_end(SlotWriter& to, uint64_t number);

    Slots slots_;
    const win32::PeerProcess peer_;
    win32::Interrupt interrupt_;
    std::atomic<bool> peer_ended_{false};

    // --- the reader's
    std::mutex telling_; // out_read_by_us: the reader, and whoever interrupts
    uint64_t read_ = 0;  // fragments
    std::array<std::byte, room_size> fragment_;
    size_t fragment_begin_ = 0; // what of fragment_ has not been given out yet
    size_t fragment_end_ = 0;

    // --- the writer's
    std::mutex writing_; // out and sent_: the writer, and whoever interrupts
    uint64_t sent_ = 0;  // fragments
    uint64_t read_by_peer_ = 0;
    std::array<std::byte, most_in_message> leaving_;
};

} // namespace ipc::mailslot
