#pragma once

#include "core/frame_channel.hpp"
#include "core/growing_buffer.hpp"
#include "fragments/fragment_carrier.hpp"
#include "fragments/peer_socket.hpp"

#include <memory>
#include <string>

namespace ipc::fragments {

// Frames over the fragments of a foreign library. A frame that fits one fragment goes as one, header (that of streams,
// core/frame_header.hpp) and payload; a longer one as a fragment with the header alone and then fragments of payload, all full but
// the last, which both ends take from and to the message's own memory.
//
// Waiting is the library's own (wait=block) or asking it again and again (wait=spin), either way in slices: between two the
// channel looks whether it was closed and whether the peer lives.
class FragmentChannel final : public FrameChannel {
  public:
    FragmentChannel(std::unique_ptr<FragmentCarrier> carrier, std::shared_ptr<PeerSocket> peer, size_t limit,
                    bool spins);
    ~FragmentChannel() override { close(); }

    Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) override;
    bool goes_on_sending() const override { return false; }
    Status reserve(size_t length, void** data, const Deadline& deadline) override;
    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) override;
    Status next(FrameInfo* info, const Deadline& deadline) override;
    Status take(void* buffer, const Deadline& deadline) override;
    Status view(const void** data, const Deadline& deadline) override;
    Status release() override;
    void close() override {
        closed_ = true;
        peer_->close();
    }
    Status ended_here() const override;

  private:
    Status check(const FirstFailure& failure) const;
    Status stopped(const FirstFailure& failure) const;
    void hang_up() override;

    Status send_fragment(Chunk head, Chunk body, const Deadline& deadline);
    Status receive_fragment(std::byte* wanted, const std::byte** fragment, size_t* length, const Deadline& deadline);
    // Asks `step(patience_ns)`, which is the carrier's send or receive, until it has an answer or the slice is over.
    template <class Step>
    Status for_a_slice(int64_t slice_ns, Step step);
    Status look_before_another_slice(const FirstFailure& failure, const Deadline& deadline, bool* seen_gone);
    Status peer_ended();
    Status skip_dropped(const Deadline& deadline);
    // The payload's next fragment, to `to` (or, null, to nowhere); counts it in arrived_.
    Status payload_fragment(std::byte* to, const Deadline& deadline);
    Status gather(const Deadline& deadline);
    bool in_one_fragment(size_t length) const;

    const std::unique_ptr<FragmentCarrier> carrier_;
    const std::shared_ptr<PeerSocket> peer_;
    const bool spins_;
    std::atomic<bool> closed_{false}; // by close(); peer_ is closed also when the channel breaks

    // --- sender's half
    GrowingBuffer room_;

    // --- receiver's half
    bool has_frame_ = false;
    FrameInfo frame_{};
    const std::byte* payload_ = nullptr; // of a frame in one fragment: in the carrier's memory
    size_t arrived_ = 0;                 // payload bytes of a longer frame that have come
    GrowingBuffer gathered_;             // and where they are, unless take() put them where they belong
    size_t dropped_ = 0;                 // payload bytes of a released frame that are still to come
};

} // namespace ipc::fragments
