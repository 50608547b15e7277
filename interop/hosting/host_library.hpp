#pragma once

#include <coreclr_delegates.h>
#include <filesystem>
#include <string>

// What loading the runtime's host takes of each system: a library's functions, and the host's kind of text.
namespace ipc::hosting {

using HostText = std::basic_string<char_t>;

HostText host_text(const std::string& utf8);
std::string utf8_text(const char_t* text);

// Never unloaded: the runtime lives in it. nullptr and the reason when it does not load.
void* load_library(const std::filesystem::path& path, std::string* reason);
// nullptr if there is no such function.
void* find_function(void* library, const char* name);

} // namespace ipc::hosting
