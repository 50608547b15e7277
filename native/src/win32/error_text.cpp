#include "win32/error_text.hpp"

#include "win32/utf.hpp"

#include <cstdio>

namespace ipc::win32 {

std::string error_text(DWORD error) {
    wchar_t text[512];
    DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0, text,
                                  static_cast<DWORD>(sizeof text / sizeof *text), nullptr);
    while (length > 0 && (text[length - 1] <= L' ' || text[length - 1] == L'.')) --length;
    const std::string number = "error " + std::to_string(error);
    return length == 0 ? number : to_utf8({text, length}) + " (" + number + ")";
}

Status fail_windows(Status status, DWORD error, const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(status, "%s: %s", text, error_text(error).c_str());
}

} // namespace ipc::win32
