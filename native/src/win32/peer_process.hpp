#pragma once

#include "core/status.hpp"
#include "win32/handle.hpp"

#include <string>

namespace ipc::win32 {

// The process at the other end of a connection, held open: its death shows at once, and its number cannot become another's.
class PeerProcess {
  public:
    // Opens the process that told its number and checks that it runs as this user. IPC_PEER_CLOSED when there is no such
    // process any more, IPC_NO_PERMISSION when it is another user's or may not be looked at. `address` is for error messages.
    static Status open(DWORD number, const std::string& address, PeerProcess* process);

    bool ended() const { return WaitForSingleObject(process_.get(), 0) == WAIT_OBJECT_0; }
    // Signalled once the process has ended.
    HANDLE handle() const { return process_.get(); }

  private:
    Handle process_;
};

} // namespace ipc::win32
