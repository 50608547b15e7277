#pragma once

#include "core/frame_channel.hpp"
#include "transports/tcp/tcp_place.hpp"

#if defined(_WIN32)
#    include "win32/socket.hpp"
#else
#    include "posix/descriptor.hpp"

#    include <cerrno>
#endif

// What tcp.cpp leaves to each system.
namespace ipc::tcp {

#if defined(_WIN32)
using Socket = win32::Socket;
using SystemError = unsigned long; // of WSAGetLastError
constexpr SystemError nobody_listens = WSAECONNREFUSED;
#else
using Socket = posix::Descriptor;
using SystemError = int; // of errno
constexpr SystemError nobody_listens = ECONNREFUSED;
#endif

// Before anything else.
Status start_sockets();

Status open_listener(const Address& address, const TcpName& name, const Place& place, FrameListener** listener);

// Connects within the deadline. Returns 0 or what the system says.
SystemError connect_within(const Place& place, const Deadline& deadline, Socket* connection);
// The status, with its error message, for an error of connect_within.
Status connect_failed(const Address& address, SystemError error);
// A client's channel over its connection. `on_loopback`: its server may look for its owner.
Status open_client(Socket connection, bool on_loopback, const Address& address, FrameChannel** channel);

} // namespace ipc::tcp
