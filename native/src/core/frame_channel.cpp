#include "core/frame_channel.hpp"

namespace ipc {

Status FrameChannel::sending_ended(Status status) {
    if (status == IPC_TIMED_OUT || status == IPC_CLOSED) return sending_is_broken() ? sending_failure() : status;
    // The peer broke the rules: all that follows would go where it says that there is room.
    return status == IPC_NOT_OUR_PROTOCOL ? give_up(status) : sending_failure_.keep(status);
}

Status FrameChannel::receiving_ended(Status status) {
    if (status == IPC_TIMED_OUT || status == IPC_CLOSED) return receiving_failure_.any() ? receiving_failure() : status;
    return status == IPC_PEER_CLOSED ? receiving_failure_.keep(status) : give_up(status);
}

} // namespace ipc
