#pragma once

#include "core/address.hpp"
#include "posix/descriptor.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace ipc::posix {

// A name in the file system, docs/wire-formats.md "Names on Linux".
struct LocalName {
    std::string address; // what the user wrote: for sentences
    std::string path;
};

// <private folder>/<prefix><name>, after checking the name and the folder, which is made if missing.
Status private_name(const Address& address, std::string_view prefix, LocalName* name);

// The private folder, opened and made if missing: <root>/ipc-<uid>. Refuses one that is not a folder of this user with mode 0700.
// `root`: /tmp for names that stand for living processes, /dev/shm for memory that outlives them.
Status open_private_folder(std::string* path, Descriptor* folder, const char* root = "/tmp");

// The same for a private folder elsewhere: makes it if missing, opens and checks it.
Status open_folder_of_user(const std::string& path, Descriptor* folder);

// Takes the lock under which names are made and removed; closing `lock` gives it back. Waits a bounded time.
Status lock_names(Descriptor* lock);
// The same for the names in a private folder elsewhere.
Status lock_folder_of_user(const std::string& path, Descriptor* lock);

// Identifies a file for as long as it exists, so that nobody removes a name that has meanwhile become another's.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
};
// False if there is nothing at the path. Links are not followed.
bool identify(const std::string& path, FileIdentity* identity);
// Removes the name if it still stands for this file. Never fails: what cannot be removed is found dead later.
void remove_name(const std::string& path, const FileIdentity& identity);

// True while the process is there and not on its way out; also when that cannot be known.
bool is_running(pid_t process);

} // namespace ipc::posix
