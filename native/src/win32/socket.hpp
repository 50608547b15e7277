#pragma once

#include "core/status.hpp"

#include <utility>
#include <winsock2.h>

namespace ipc::win32 {

// Starts the system's sockets for this process, once, when they are first needed; for good.
Status start_sockets();

// Owns one socket.
class Socket {
  public:
    Socket() = default;
    explicit Socket(SOCKET socket) : socket_(socket) {}
    Socket(Socket&& other) noexcept : socket_(std::exchange(other.socket_, INVALID_SOCKET)) {}
    Socket& operator=(Socket&& other) noexcept {
        if (this != &other) reset(std::exchange(other.socket_, INVALID_SOCKET));
        return *this;
    }
    ~Socket() { reset(); }

    SOCKET get() const { return socket_; }
    explicit operator bool() const { return socket_ != INVALID_SOCKET; }
    void reset(SOCKET socket = INVALID_SOCKET) {
        if (socket_ != INVALID_SOCKET) closesocket(socket_);
        socket_ = socket;
    }

  private:
    SOCKET socket_ = INVALID_SOCKET;
};

// What WSAGetLastError() says, as fail_windows() takes it.
inline unsigned long socket_error() {
    return static_cast<unsigned long>(WSAGetLastError());
}

} // namespace ipc::win32
