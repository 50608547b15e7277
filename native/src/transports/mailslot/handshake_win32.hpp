#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "transports/mailslot/mailslot_stream_win32.hpp"
#include "win32/user.hpp"

#include <string>

namespace ipc::mailslot {

// How two ends find each other, docs/wire-formats.md "Mailslots". Both functions leave their failure's error message.

// \\.\mailslot\ipc\<SID>\: the place of all names of this user.
Status place_of_names(std::wstring* place);

// The client's part, once `to_listener` is the listener's name.
Status meet_server(const Address& address, const std::wstring& place, const std::wstring& to_listener,
                   const Deadline& deadline, Slots* slots, win32::PeerProcess* server);

// The server's part, after a client's first message, which may be anything. Waits at most a second for the client's last
// step. A failure is the client's, but for IPC_CLOSED.
Status meet_client(const Address& address, const std::wstring& place, const void* hello, size_t length,
                   const win32::Interrupt& closing, Slots* slots, win32::PeerProcess* client);

} // namespace ipc::mailslot
