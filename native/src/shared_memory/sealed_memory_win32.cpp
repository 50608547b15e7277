#include "shared_memory/sealed_memory.hpp"
#include "win32/error_text.hpp"

#include <atomic>
#include <psapi.h>

namespace ipc::shared_memory {
namespace {

using win32::fail_windows;
using win32::Handle;

// The system gives large pages only to processes that may lock memory, and only once they have asked for that privilege.
bool may_lock_memory() {
    HANDLE opened = nullptr;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES, &opened)) return false;
    const Handle token(opened);
    TOKEN_PRIVILEGES wanted{};
    wanted.PrivilegeCount = 1;
    wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
    if (!LookupPrivilegeValueW(nullptr, L"SeLockMemoryPrivilege", &wanted.Privileges[0].Luid)) return false;
    // Succeeds also when the user does not have the privilege; the error code alone tells.
    return AdjustTokenPrivileges(token.get(), FALSE, &wanted, 0, nullptr, nullptr) && GetLastError() == ERROR_SUCCESS;
}

Status no_huge_pages(size_t bytes, const char* why) {
    return fail(IPC_NOT_AVAILABLE, "cannot have %zu bytes in huge pages: %s, or leave pages=huge out", bytes, why);
}

// 0 bytes: all of it. Large pages want to be asked for in so many words; whoever was handed the section does not know of them.
void* map_view(const MemoryFile& file, DWORD rights, size_t bytes) {
    void* view = MapViewOfFile(file.get(), rights, 0, 0, bytes);
    return view != nullptr ? view : MapViewOfFile(file.get(), rights | FILE_MAP_LARGE_PAGES, 0, 0, bytes);
}

} // namespace

Mapping::~Mapping() {
    if (memory_ != nullptr) UnmapViewOfFile(memory_);
}

Status make_sealed_memory(size_t bytes, MemoryFile* file) {
    return make_sealed_memory(&bytes, Pages::normal, file);
}

Status make_sealed_memory(size_t* bytes, Pages pages, MemoryFile* file) {
    DWORD kind = PAGE_READWRITE | SEC_COMMIT;
    if (pages == Pages::huge) {
        const size_t page = GetLargePageMinimum();
        if (page == 0) return no_huge_pages(*bytes, "this machine has none");
        if (!may_lock_memory())
            return no_huge_pages(*bytes, "give this user the right 'Lock pages in memory' (secpol.msc, Local Policies, "
                                         "User Rights Assignment) and log on again");
        *bytes = (*bytes + page - 1) / page * page;
        kind |= SEC_LARGE_PAGES;
    }
    // No name: nobody can open it who was not given a handle.
    const uint64_t wide = *bytes;
    file->reset(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, kind, static_cast<DWORD>(wide >> 32),
                                   static_cast<DWORD>(wide), nullptr));
    if (*file) return IPC_OK;
    const DWORD error = GetLastError();
    if (pages == Pages::huge)
        return fail_windows(IPC_NOT_AVAILABLE, error,
                            "cannot have %zu bytes in huge pages; restart, or leave pages=huge out", *bytes);
    return fail_windows(error == ERROR_COMMITMENT_LIMIT ? IPC_OUT_OF_MEMORY : IPC_SYSTEM, error,
                        "cannot make %zu bytes of shared memory", *bytes);
}

size_t sealed_bytes(const MemoryFile& file) {
    // Of a view of all of it the system tells how much it really is.
    void* view = map_view(file, FILE_MAP_READ | FILE_MAP_WRITE, 0);
    if (view == nullptr) {
        // A section of which only a part can be mapped is too large for this process.
        const Mapping part(map_view(file, FILE_MAP_READ | FILE_MAP_WRITE, 1), 1);
        return part.data() != nullptr ? SIZE_MAX : 0;
    }
    const Mapping whole(view, 0);
    MEMORY_BASIC_INFORMATION about{};
    // Pages that are only reserved, or whose file's disk may fail, would end who touches them.
    wchar_t name[8];
    const bool sound = VirtualQuery(view, &about, sizeof about) == sizeof about && about.State == MEM_COMMIT &&
                       about.Type == MEM_MAPPED && about.Protect == PAGE_READWRITE &&
                       K32GetMappedFileNameW(GetCurrentProcess(), view, name, 8) == 0 &&
                       GetLastError() != ERROR_INSUFFICIENT_BUFFER;
    return sound ? about.RegionSize : 0;
}

Status map_memory(const MemoryFile& file, size_t bytes, Access access, Mapping* mapping) {
    if (bytes == SIZE_MAX) return too_much_to_map();
    const DWORD rights = access == Access::read ? FILE_MAP_READ : FILE_MAP_READ | FILE_MAP_WRITE;
    void* memory = map_view(file, rights, bytes);
    if (memory == nullptr)
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot map %zu bytes of shared memory", bytes);
    *mapping = Mapping(memory, bytes);
    return IPC_OK;
}

Status prefault(const Mapping& mapping) {
    // PrefetchVirtualMemory reads from disk but makes no zero pages. Adding nothing writes the page in without changing
    // what the peer may be writing there.
    for (size_t at = 0; at < mapping.bytes(); at += 4096)
        reinterpret_cast<std::atomic<uint32_t>*>(mapping.data() + at)->fetch_add(0, std::memory_order_relaxed);
    return IPC_OK;
}

} // namespace ipc::shared_memory
