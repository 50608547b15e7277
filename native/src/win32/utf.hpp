#pragma once

#include <string>
#include <string_view>

namespace ipc::win32 {

// Between the library's UTF-8 and the system's UTF-16. What is not well-formed becomes the replacement character.
std::wstring to_wide(std::string_view text);
std::string to_utf8(std::wstring_view text);

} // namespace ipc::win32
