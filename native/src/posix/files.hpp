#pragma once

#include "posix/descriptor.hpp"

#include <cstddef>
#include <cstdint>

// Files in shared memory: made without a name, named when complete, and locked byte by byte. Twin of
// managed/Ipc/Core/Libc.Files.cs. `folder` and `path` are as openat has them.
namespace ipc::posix {

// A file in this folder that has no name yet, for this user's reading and writing whatever the umask: who is killed before
// naming it leaves nothing behind. Empty with errno set.
Descriptor open_nameless(int folder, const char* path);

// Gives a file made by open_nameless its name. False with errno set: EEXIST if the name is taken.
bool name_file(const Descriptor& file, int folder, const char* path);

// Makes a file so long and takes its room now: a full file system must refuse here rather than kill whoever touches the
// memory later. 0 or the errno.
int take_room(const Descriptor& file, uint64_t bytes);
// As ftruncate. Neither lets SIGXFSZ end a program whose files are limited (ulimit -f).
bool set_size(const Descriptor& file, uint64_t bytes);

// Locks bytes for this open file, which two openings in one process are two of; the kernel lets go with the last descriptor,
// however the process ends, and does not ask whether the file has those bytes. False with errno set: EAGAIN or EACCES if
// another has them.
bool try_lock_bytes(const Descriptor& file, uint64_t first, uint64_t count);

// Whether another open file has a lock on any of these bytes; true also when the kernel does not say.
bool are_bytes_locked(const Descriptor& file, uint64_t first, uint64_t count);

// Maps the file for reading and writing. A mapping keeps the locks of the opening it was made from, and a forked child keeps the
// mapping; so it is made from an opening of its own. MAP_FAILED with errno set.
void* map_file(const Descriptor& file, size_t bytes);

} // namespace ipc::posix
