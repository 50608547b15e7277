#pragma once

#include "calls/call_session.hpp"
#include "core/address.hpp"
#include "transports/wm_copydata/wire.hpp"
#include "win32/peer_process.hpp"

#include <memory>
#include <windows.h>

namespace ipc::wm_copydata {

// Starts a session for a client: a message-only window with a thread of its own, so that a client whose request waits to be
// answered holds nobody else up. Both go when the session is closed. Gives the window, for the client.
Status start_session(const Address& address, const Token& token, win32::PeerProcess client, DWORD client_process,
                     std::shared_ptr<CallSession>* session, HWND* window);

} // namespace ipc::wm_copydata
