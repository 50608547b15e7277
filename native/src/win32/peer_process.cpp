#include "win32/peer_process.hpp"

#include "win32/error_text.hpp"
#include "win32/user.hpp"

namespace ipc::win32 {

Status PeerProcess::open(DWORD number, const std::string& address, PeerProcess* process) {
    // From here on the number stays this process's, so that asking by number asks about it.
    Handle opened(OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, number));
    if (!opened) {
        const DWORD error = GetLastError();
        if (error == ERROR_INVALID_PARAMETER)
            return fail(IPC_PEER_CLOSED, "the peer at %s (process %lu) has ended already", address.c_str(), number);
        return fail_windows(IPC_NO_PERMISSION, error, "cannot watch the peer at %s (process %lu)", address.c_str(),
                            number);
    }
    User self;
    User other;
    if (Status status = this_user(&self); status != IPC_OK) return status;
    if (!user_of_process(number, &other))
        return fail_windows(IPC_NO_PERMISSION, GetLastError(), "cannot ask whose the peer at %s (process %lu) is",
                            address.c_str(), number);
    if (!(self == other))
        return fail(IPC_NO_PERMISSION, "the peer at %s (process %lu) is another user's: run both as the same",
                    address.c_str(), number);
    process->process_ = std::move(opened);
    return IPC_OK;
}

} // namespace ipc::win32
