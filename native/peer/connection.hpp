#pragma once

#include "cell.hpp"
#include "control.hpp"
#include "ipc/ipc.hpp"

#include <cstdint>

namespace ipc::peer {

// One end of a pair's connection. The end of standard input interrupts whatever is blocked on it.
class Connection {
  public:
    // The client's end: connects at once.
    static Connection connect(const Cell& cell, Control& control);
    // The server's end: listens, tells the runner `ready`, accepts one client and listens no longer.
    static Connection accept(const Cell& cell, Control& control);

    // For the calls of ipc.h; owned by this object.
    ipc_channel* channel() const { return channel_.handle(); }

  private:
    Connection(Channel channel, Control& control)
        : channel_(std::move(channel)),
          interruptible_(control, [handle = channel_.handle()] { ipc_channel_close(handle); }) {}

    Channel channel_; // first, so that it outlives every interrupt
    Control::Interruptible interruptible_;
};

// Whether a request or message came: false when the client has closed the connection in order; throws on anything else.
inline bool has_arrived(ipc_status status) {
    if (status == IPC_OK) [[likely]]
        return true;
    if (status == IPC_PEER_CLOSED) return false;
    throw Error(status);
}

// Tells the runner how many exchanges were served, and stays for its questions until standard input ends.
void finish_serving(Control& control, uint64_t operations);

} // namespace ipc::peer
