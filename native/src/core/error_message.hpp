#pragma once

namespace ipc {

// Where the thread's last failure is kept. In libipc an array of the thread (error_message.cpp); in a module (core/module.hpp) a
// way to that same array (modules/error_message.cpp), so that ipc_last_error() tells of failures in modules too.
void keep_error_message(const char* text);
// The same for a text that stays where it is for ever.
void keep_literal(const char* text);

} // namespace ipc
