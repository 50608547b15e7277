#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "core/status.hpp"
#include "win32/handle.hpp"

#include <cstdint>
#include <string>

namespace ipc::win32 {

// Files that several processes of this user map, docs/wire-formats.md "Files on Windows". All stand in %LOCALAPPDATA%\ipc, which
// belongs to this user and which nobody else may open.
struct PrivateFile {
    std::string address; // for error messages
    std::wstring folder;
    std::wstring name; // in the folder
    std::wstring path() const { return folder + L"\\" + name; }
};

// The file `prefix` + name of the address, after checking the name and making or checking the folder. `prefix` ends with '-'.
Status private_file(const Address& address, const char* prefix, PrivateFile* file);

// Whoever opens, makes or removes one of these files holds the folder's lock meanwhile, until the handle goes. Waits until the deadline
// (IPC_TIMED_OUT), and never longer than a holder can need it (IPC_SYSTEM).
Status lock_folder(const PrivateFile& file, Handle* lock, const Deadline& deadline = Deadline(IPC_FOREVER));

// Opens what stands at the name; *opened stays empty if nothing does. IPC_NO_PERMISSION for what is not this user's own file.
Status open_private_file(const PrivateFile& file, Handle* opened);

// Makes a file of so many zeros without its name, which name_private_file gives it. Takes its room on the disk. Under the folder's
// lock, so that there is one at a time: one that a killed process left is overwritten.
Status make_private_file(const PrivateFile& file, uint64_t bytes, Handle* made);
Status name_private_file(const PrivateFile& file, const Handle& made);

// Takes the name from an open file, which those who have it open keep. What cannot be deleted because somebody maps it gets
// another name, and goes when the last of them calls sweep_private_files.
Status remove_private_file(const PrivateFile& file, const Handle& opened);
void sweep_private_files(const PrivateFile& file);

// How long a file is; 0 if that cannot be known.
uint64_t bytes_of(const Handle& file);
// The first bytes of a file. False when it has fewer.
bool read_beginning(const Handle& file, void* to, uint32_t length);

// Maps all of a file for reading and writing. Its section goes with the last view.
Status map_private_file(const PrivateFile& file, const Handle& opened, uint64_t bytes, void** memory);
void unmap_private_file(void* memory);

// Locks that belong to the open file and that the system drops when its process ends, however it ends. Number n is the byte at
// 2^32 + n, where no file reaches: these locks would keep others from reading it.
bool try_lock_number(const Handle& file, uint32_t number);
// Whether another open file has one of these; true also when the system does not say.
bool are_numbers_locked(const Handle& file, uint32_t first, uint32_t count);

} // namespace ipc::win32
