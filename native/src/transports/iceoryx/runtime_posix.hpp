#pragma once

#include "core/status.hpp"

namespace ipc::iceoryx {

// Attaches this process to RouDi, iceoryx's daemon, once. IPC_NOT_AVAILABLE, at once and with how to start it, if it does not
// run: iceoryx itself would wait a minute for it and then end the process. Any thread may call.
Status attach();

// Removes from /tmp what runtimes of killed processes of this user left there, and RouDi does not remove. Never fails.
void sweep_runtimes();

} // namespace ipc::iceoryx
