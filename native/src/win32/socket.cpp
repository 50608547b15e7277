#include "win32/socket.hpp"

#include "win32/error_text.hpp"

namespace ipc::win32 {

Status start_sockets() {
    static const int error = [] {
        WSADATA unused;
        return WSAStartup(MAKEWORD(2, 2), &unused);
    }();
    if (error == 0) return IPC_OK;
    return fail_windows(IPC_NOT_AVAILABLE, static_cast<DWORD>(error), "this system's sockets cannot be used");
}

} // namespace ipc::win32
