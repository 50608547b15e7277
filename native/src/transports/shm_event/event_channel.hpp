#pragma once

#include "core/frame_channel.hpp"
#include "shared_memory/segment.hpp"

#include <memory>

namespace ipc::shm_event {

// A channel over one block each way: a message is written into the block, the block marked full, the reader woken; the
// reader marks it empty. The simplest design, and the one to compare the rings with.
class EventChannel final : public FrameChannel {
  public:
    EventChannel(std::unique_ptr<shared_memory::Segment> segment, size_t limit);

    Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) override;
    Status reserve(size_t length, void** data, const Deadline& deadline) override;
    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) override;
    Status next(FrameInfo* info, const Deadline& deadline) override;
    Status take(void* buffer, const Deadline& deadline) override;
    Status view(const void** data, const Deadline& deadline) override;
    Status release() override;
    Status ended_here() const override { return segment_->closed_here(); }
    Status wait_handle(intptr_t* handle) const override;
    Status interrupt_receiving(bool on) override {
        segment_->interrupt_receiving(on);
        return IPC_OK;
    }
    void close() override { segment_->close(); }

  private:
    std::byte* block(unsigned side) const;
    Status wait_until_empty(size_t length, const Deadline& deadline);
    void hang_up() override { segment_->hang_up(); }
    void publish(FrameKind kind, uint32_t id, size_t length);

    std::unique_ptr<shared_memory::Segment> segment_;
    shared_memory::SpinBudget send_budget_;
    shared_memory::SpinBudget receive_budget_;
    shared_memory::EventControl& out_;
    shared_memory::EventControl& in_;
    bool has_message_ = false;
    FrameInfo info_{};
};

} // namespace ipc::shm_event
