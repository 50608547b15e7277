#include "failure.hpp"
#include "process.hpp"

#include <system_error>
#include <windows.h>

namespace ipc::peer {

void pin(int cpu) {
    constexpr int most = 8 * sizeof(DWORD_PTR);
    const bool possible = cpu >= 0 && cpu < most;
    if (possible && SetProcessAffinityMask(GetCurrentProcess(), DWORD_PTR{1} << cpu)) return;
    const int error = static_cast<int>(possible ? GetLastError() : ERROR_INVALID_PARAMETER);
    fail_bad_cell("this process cannot be pinned to CPU " + std::to_string(cpu) + " (" +
                  std::system_category().message(error) + "): choose one that the system has, or none");
}

std::string runtime() {
    // Wine's own ntdll tells; Windows' has no such function.
    using Version = const char*(CDECL*)();
    const FARPROC found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
    if (found == nullptr) return "native, Windows";
    return std::string("native, Wine ") + reinterpret_cast<Version>(reinterpret_cast<void*>(found))();
}

// A write to a pipe that nobody reads only fails.
void outlive_the_runner() {}

} // namespace ipc::peer
