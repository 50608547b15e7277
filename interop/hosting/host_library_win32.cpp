#include "host_library.hpp"

#include <windows.h>

namespace ipc::hosting {

HostText host_text(const std::string& utf8) {
    const int size = static_cast<int>(utf8.size());
    HostText text(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, nullptr, 0)), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, text.data(), static_cast<int>(text.size()));
    return text;
}

std::string utf8_text(const char_t* text) {
    const HostText whole = text;
    const int size = static_cast<int>(whole.size());
    std::string utf8(
        static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, whole.data(), size, nullptr, 0, nullptr, nullptr)), '\0');
    WideCharToMultiByte(CP_UTF8, 0, whole.data(), size, utf8.data(), static_cast<int>(utf8.size()), nullptr, nullptr);
    return utf8;
}

void* load_library(const std::filesystem::path& path, std::string* reason) {
    // Its own neighbours are found beside it, and nothing in the current folder.
    const HMODULE library =
        LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    if (library == nullptr) *reason = "error " + std::to_string(GetLastError());
    return reinterpret_cast<void*>(library);
}

void* find_function(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}

} // namespace ipc::hosting
