#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "posix/descriptor.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace ipc::posix {

// A name in the file system, docs/wire-formats.md "Names on Linux".
struct LocalName {
    std::string address; // what the user wrote: for error messages
    std::string path;
};

// <private folder>/<prefix><name>, after checking the name and the folder, which is made if missing.
Status private_name(const Address& address, std::string_view prefix, LocalName* name);

// Where this user's names stand: in the user's runtime folder if there is one, else in /tmp/ipc-<uid>.
std::string private_folder();
// Where this user's files of shared memory stand: likewise, else in /dev/shm/ipc-<uid>.
std::string memory_folder();

// Opens one of the two, making it if missing. Refuses one that is not a folder of this user with mode 0700.
Status open_folder_of_user(const std::string& path, Descriptor* folder);

// Takes the lock under which names are made and removed; closing `lock` gives it back. Waits until the deadline
// (IPC_TIMED_OUT), and never longer than a holder can need it (IPC_SYSTEM).
Status lock_names(Descriptor* lock, const Deadline& deadline = Deadline(IPC_FOREVER));
// The same for the names in either folder.
Status lock_folder_of_user(const std::string& path, Descriptor* lock, const Deadline& deadline = Deadline(IPC_FOREVER));

// Identifies a file for as long as it exists, so that nobody removes a name that has meanwhile become another's.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    pid_t process = 0; // who identified it
};
// False if there is nothing at the path. Links are not followed.
bool identify(const std::string& path, FileIdentity* identity);
// Removes the name if it still stands for this file and this process, rather than the one it was forked from, identified
// it. Never fails: what cannot be removed is found dead later.
void remove_name(const std::string& path, const FileIdentity& identity);

// How long a client that finds its server dead tries to clear the server's name away: no longer than its call may last, but
// for some milliseconds even if that has no time left.
Deadline time_to_forget(const Deadline& deadline);

// True while the process is there and not on its way out; also when that cannot be known.
bool is_running(pid_t process);
// True while the process is on its way out and may not have closed all its descriptors yet.
bool is_closing_descriptors(pid_t process);

} // namespace ipc::posix
