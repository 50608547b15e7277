#include "win32/private_files.hpp"

#include "core/plain_name.hpp"
#include "win32/error_text.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"

#include <aclapi.h>
#include <chrono>
#include <cwchar>
#include <random>
#include <vector>

namespace ipc::win32 {
namespace {

constexpr DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr const wchar_t* new_suffix = L".new";
constexpr const wchar_t* gone_suffix = L".gone-";

// A holder needs the lock for some 10 ms; who has it for this long is stopped or stuck.
constexpr std::chrono::seconds lock_patience{5};

std::string shown(const std::wstring& path) {
    return to_utf8(path);
}

// Whether an access list lets only this user in, and those whom nothing keeps out: the system and its administrators.
bool lets_only_in(PACL list, const User& user) {
    if (list == nullptr) return false; // everybody
    for (DWORD i = 0; i < list->AceCount; ++i) {
        void* found = nullptr;
        if (!GetAce(list, i, &found)) return false;
        const auto* entry = static_cast<const ACCESS_ALLOWED_ACE*>(found);
        if (entry->Header.AceType == ACCESS_DENIED_ACE_TYPE) continue;
        if (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE) return false;
        PSID who = const_cast<DWORD*>(&entry->SidStart);
        if (!(User(who) == user) && !IsWellKnownSid(who, WinLocalSystemSid) &&
            !IsWellKnownSid(who, WinBuiltinAdministratorsSid))
            return false;
    }
    return true;
}

Status check_folder(const std::wstring& path, const User& user) {
    const Handle folder(CreateFileW(path.c_str(), READ_CONTROL | FILE_READ_ATTRIBUTES, share_all, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    BY_HANDLE_FILE_INFORMATION about{};
    if (!folder || !GetFileInformationByHandle(folder.get(), &about))
        return fail_windows(IPC_NO_PERMISSION, GetLastError(), "cannot open the folder %s", shown(path).c_str());
    PSID owner = nullptr;
    PACL list = nullptr;
    PSECURITY_DESCRIPTOR descriptor = nullptr;
    const DWORD error =
        GetSecurityInfo(folder.get(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner,
                        nullptr, &list, nullptr, &descriptor);
    if (error != ERROR_SUCCESS)
        return fail_windows(IPC_NO_PERMISSION, error, "cannot ask whose the folder %s is", shown(path).c_str());
    const bool plain = (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
                       (about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0;
    const bool ours = owner != nullptr && User(owner) == user && lets_only_in(list, user);
    LocalFree(descriptor);
    if (plain && ours) return IPC_OK;
    return fail(IPC_NO_PERMISSION,
                "%s is not a folder that only this user may open: remove it, it is created again when it is needed",
                shown(path).c_str());
}

Status find_folder(std::wstring* path) {
    wchar_t root[MAX_PATH];
    const DWORD length = GetEnvironmentVariableW(L"LOCALAPPDATA", root, MAX_PATH);
    if (length == 0 || length >= MAX_PATH)
        return fail(IPC_NOT_AVAILABLE,
                    "this user has no folder for such files: the variable LOCALAPPDATA does not say");
    *path = std::wstring(root, length) + L"\\ipc";
    User user;
    if (Status status = this_user(&user)) return status;
    OnlyThisUser security;
    if (Status status = security.open()) return status;
    if (!CreateDirectoryW(path->c_str(), security.attributes()) && GetLastError() != ERROR_ALREADY_EXISTS)
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make the folder %s", shown(*path).c_str());
    return check_folder(*path, user);
}

bool rename(const Handle& file, const std::wstring& path) {
    std::vector<char> memory(sizeof(FILE_RENAME_INFO) + path.size() * sizeof(wchar_t));
    auto* request = reinterpret_cast<FILE_RENAME_INFO*>(memory.data());
    request->ReplaceIfExists = FALSE;
    request->FileNameLength = static_cast<DWORD>(path.size() * sizeof(wchar_t));
    std::wmemcpy(request->FileName, path.c_str(), path.size() + 1);
    return SetFileInformationByHandle(file.get(), FileRenameInfo, request, static_cast<DWORD>(memory.size())) != 0;
}

OVERLAPPED at_number(uint32_t number) {
    OVERLAPPED place{};
    place.OffsetHigh = 1;
    place.Offset = number;
    return place;
}

} // namespace

Status private_file(const Address& address, const char* prefix, PrivateFile* file) {
    if (Status status = check_plain_name(address)) return status;
    file->address = address.text();
    file->name = to_wide(prefix + address.name());
    return find_folder(&file->folder);
}

Status lock_folder(const PrivateFile& file, Handle* lock, const Deadline& deadline) {
    const std::wstring path = file.folder + L"\\lock";
    lock->reset(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                            OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    if (!*lock) return fail_windows(IPC_SYSTEM, GetLastError(), "cannot open %s", shown(path).c_str());
    const auto end = std::chrono::steady_clock::now() + lock_patience;
    for (;;) {
        OVERLAPPED place{};
        if (LockFileEx(lock->get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
            return IPC_OK;
        const DWORD error = GetLastError();
        if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING)
            return fail_windows(IPC_SYSTEM, error, "cannot lock %s", shown(path).c_str());
        if (std::chrono::steady_clock::now() >= end)
            return fail(IPC_SYSTEM,
                        "another process has kept %s locked for %d s: find the one that has it open and end it",
                        shown(path).c_str(), static_cast<int>(lock_patience.count()));
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "the time-out passed while another process kept %s locked", shown(path).c_str());
        Sleep(1);
    }
}

Status open_private_file(const PrivateFile& file, Handle* opened) {
    opened->reset(CreateFileW(file.path().c_str(), GENERIC_READ | GENERIC_WRITE | DELETE | READ_CONTROL, share_all,
                              nullptr, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    const DWORD error = *opened ? ERROR_SUCCESS : GetLastError();
    if (error == ERROR_FILE_NOT_FOUND) return IPC_OK;
    if (error != ERROR_SUCCESS)
        return fail_windows(IPC_NO_PERMISSION, error, "cannot open %s for %s", shown(file.path()).c_str(),
                            file.address.c_str());
    BY_HANDLE_FILE_INFORMATION about{};
    User user, owner;
    if (Status status = this_user(&user)) return status;
    if (GetFileType(opened->get()) == FILE_TYPE_DISK && GetFileInformationByHandle(opened->get(), &about) &&
        (about.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0 &&
        owner_of(opened->get(), &owner) && owner == user)
        return IPC_OK;
    opened->reset();
    return fail(IPC_NO_PERMISSION, "what stands at %s for %s is not a file of this user: remove it",
                shown(file.path()).c_str(), file.address.c_str());
}

Status make_private_file(const PrivateFile& file, uint64_t bytes, Handle* made) {
    OnlyThisUser security;
    if (Status status = security.open()) return status;
    const std::wstring path = file.path() + new_suffix;
    made->reset(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE | READ_CONTROL, share_all,
                            security.attributes(), CREATE_ALWAYS,
                            FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    if (!*made)
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make %s for %s", shown(path).c_str(),
                            file.address.c_str());
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
    if (SetFileInformationByHandle(made->get(), FileEndOfFileInfo, &end, sizeof end)) return IPC_OK;
    const DWORD error = GetLastError();
    made->reset();
    DeleteFileW(path.c_str());
    return fail_windows(error == ERROR_DISK_FULL ? IPC_OUT_OF_MEMORY : IPC_SYSTEM, error,
                        "cannot take %llu bytes in %s for %s", static_cast<unsigned long long>(bytes),
                        shown(file.folder).c_str(), file.address.c_str());
}

Status name_private_file(const PrivateFile& file, const Handle& made) {
    if (rename(made, file.path())) return IPC_OK;
    return fail_windows(IPC_SYSTEM, GetLastError(), "cannot give the new file its name %s", shown(file.path()).c_str());
}

Status remove_private_file(const PrivateFile& file, const Handle& opened) {
    std::random_device random;
    const std::wstring other =
        file.path() + gone_suffix + std::to_wstring((uint64_t{random()} << 32) | uint64_t{random()});
    if (!rename(opened, other))
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot remove %s", shown(file.path()).c_str());
    return IPC_OK;
}

void sweep_private_files(const PrivateFile& file) {
    WIN32_FIND_DATAW found;
    const HANDLE search = FindFirstFileW((file.path() + gone_suffix + L"*").c_str(), &found);
    if (search == INVALID_HANDLE_VALUE) return;
    do DeleteFileW((file.folder + L"\\" + found.cFileName).c_str());
    while (FindNextFileW(search, &found));
    FindClose(search);
}

uint64_t bytes_of(const Handle& file) {
    LARGE_INTEGER size{};
    return GetFileSizeEx(file.get(), &size) ? static_cast<uint64_t>(size.QuadPart) : 0;
}

bool read_beginning(const Handle& file, void* to, uint32_t length) {
    OVERLAPPED beginning{};
    DWORD got = 0;
    return ReadFile(file.get(), to, length, &got, &beginning) && got == length;
}

Status map_private_file(const PrivateFile& file, const Handle& opened, uint64_t bytes, void** memory) {
    // A mapped file can neither be truncated nor deleted: nobody can be ended by touching it.
    const Handle section(CreateFileMappingW(opened.get(), nullptr, PAGE_READWRITE, static_cast<DWORD>(bytes >> 32),
                                            static_cast<DWORD>(bytes), nullptr));
    *memory = section ? MapViewOfFile(section.get(), FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, static_cast<SIZE_T>(bytes))
                      : nullptr;
    if (*memory != nullptr) return IPC_OK;
    const DWORD error = GetLastError();
    return fail_windows(
        error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_COMMITMENT_LIMIT ? IPC_OUT_OF_MEMORY : IPC_SYSTEM, error,
        "cannot map the %llu bytes of %s", static_cast<unsigned long long>(bytes), shown(file.path()).c_str());
}

void unmap_private_file(void* memory) {
    if (memory != nullptr) UnmapViewOfFile(memory);
}

bool try_lock_number(const Handle& file, uint32_t number) {
    OVERLAPPED place = at_number(number);
    return LockFileEx(file.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
}

bool are_numbers_locked(const Handle& file, uint32_t first, uint32_t count) {
    // Shared, so that two who ask at once do not take each other for the living.
    OVERLAPPED place = at_number(first);
    if (!LockFileEx(file.get(), LOCKFILE_FAIL_IMMEDIATELY, 0, count, 0, &place)) return true;
    OVERLAPPED same = at_number(first);
    UnlockFileEx(file.get(), 0, count, 0, &same);
    return false;
}

} // namespace ipc::win32
