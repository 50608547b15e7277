#pragma once

#include <algorithm>
#include <cstddef>
#include <windows.h>

namespace ipc::win32 {

// Whether this is Wine, whose own ntdll has a function that Windows' has not. For what must be done differently there, each
// case with its evidence in docs/windows.md.
inline bool under_wine() {
    static const bool here = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
    return here;
}

// How many of `most` bytes go to the system in one write or message. Wine's server must take a request at once, because a thread that
// is still writing one is ended when another asks for its registers, as .NET's garbage collector does: docs/windows.md, "Long
// requests".
inline size_t most_at_once(size_t most) {
    constexpr size_t taken_at_once_by_wine = 60 * 1024;
    return under_wine() ? std::min(most, taken_at_once_by_wine) : most;
}

} // namespace ipc::win32
