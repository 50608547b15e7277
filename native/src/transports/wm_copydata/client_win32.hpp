#pragma once

#include "calls/call_client.hpp"
#include "core/address.hpp"

#include <memory>
#include <string>

namespace ipc::wm_copydata {

// Connects to the window of this title; docs/wire-formats.md "Window messages".
Status connect_window(const Address& address, const std::wstring& title, const Deadline& deadline,
                      std::unique_ptr<CallClient>* client);

} // namespace ipc::wm_copydata
