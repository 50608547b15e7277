#pragma once

#include <windows.h>

namespace ipc::win32 {

// Whether this is Wine, whose own ntdll has a function that Windows' has not. For what must be done differently there, each
// case with its evidence in docs/windows.md.
inline bool under_wine() {
    static const bool here = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
    return here;
}

} // namespace ipc::win32
