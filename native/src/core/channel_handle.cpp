#include "core/channel_handle.hpp"

#include "core/abi_guard.hpp"
#include "core/channel_handle_over.hpp"
#include "core/frame_channel.hpp"

std::unique_ptr<ipc_channel> ipc::make_handle(std::unique_ptr<FrameChannel> frames) {
    FrameChannel& self = *frames;
    if (ipc_channel* own = self.make_own_handle(frames)) return std::unique_ptr<ipc_channel>(own);
    return make_handle_over<FrameChannel>(frames);
}

void ipc_channel::close() noexcept {
    const ipc::HandleGate::Visit visit(gate_);
    closed_ = true;
    ipc::abi::quietly([this] { close_session(); });
}

bool ipc_channel::free_after_serving() noexcept {
    if (handling_.load() != std::this_thread::get_id()) return false;
    free_after_serving_ = true;
    close();
    return true;
}
