#include "posix/names.hpp"

#include "core/plain_name.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace ipc::posix {
namespace {

// A holder needs the lock for some 10 ms; who has it for this long is stopped or stuck.
constexpr std::chrono::seconds lock_patience{5};

constexpr unsigned long exiting_flag = 0x4; // PF_EXITING, Linux include/linux/sched.h: part of /proc/<pid>/stat

// A folder of this user in which nobody else can make anything, nor take what is to be made.
bool is_of_user_alone(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The user's runtime folder is preferred, because nobody can take a name in it first, as anybody can in `shared`.
std::string folder_of_user(const char* shared) {
    const std::string user = std::to_string(geteuid());
    const char* given = std::getenv("XDG_RUNTIME_DIR");
    std::string runtime = given != nullptr && *given == '/' ? given : "";
    while (runtime.size() > 1 && runtime.ends_with('/')) runtime.pop_back();
    if (!runtime.empty() && is_of_user_alone(runtime)) return runtime + "/ipc";
    runtime = "/run/user/" + user;
    if (is_of_user_alone(runtime)) return runtime + "/ipc";
    return std::string(shared) + "/ipc-" + user;
}

std::string name_of_user(uid_t user) {
    passwd entry{};
    passwd* found = nullptr;
    char text[4096];
    if (getpwuid_r(user, &entry, text, sizeof text, &found) != 0 || found == nullptr)
        return "user " + std::to_string(user);
    return "user " + std::string(found->pw_name) + " (" + std::to_string(user) + ")";
}

constexpr const char* own_runtime_folder = "set XDG_RUNTIME_DIR to a folder of your own";

// What stands where the folder should be is another's, or no folder.
Status refuse_folder(const std::string& path, const struct stat& status) {
    if (status.st_uid == geteuid())
        return fail(IPC_NO_PERMISSION,
                    "%s is not a folder, but this user's names belong in one there: remove it, or %s", path.c_str(),
                    own_runtime_folder);
    const std::string owner = name_of_user(status.st_uid);
    return fail(IPC_NO_PERMISSION,
                "%s belongs to %s, so this user's names cannot be kept there: ask %s or root to remove it, or %s",
                path.c_str(), owner.c_str(), owner.c_str(), own_runtime_folder);
}

} // namespace

std::string private_folder() {
    return folder_of_user("/tmp");
}

std::string memory_folder() {
    return folder_of_user("/dev/shm");
}

Status open_folder_of_user(const std::string& path, Descriptor* folder) {
    const bool made = mkdir(path.c_str(), 0700) == 0;
    if (!made && errno != EEXIST)
        return fail_system(IPC_NO_PERMISSION, errno, "cannot make the private folder %s (%s)", path.c_str(),
                           own_runtime_folder);
    struct stat status {};
    folder->reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!*folder) {
        const int error = errno;
        if ((error == ENOTDIR || error == ELOOP || error == EACCES) && lstat(path.c_str(), &status) == 0 &&
            (status.st_uid != geteuid() || !S_ISDIR(status.st_mode)))
            return refuse_folder(path, status);
        return fail_system(error == EACCES ? IPC_NO_PERMISSION : IPC_SYSTEM, error, "cannot open the private folder %s",
                           path.c_str());
    }
    if (fstat(folder->get(), &status) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot look at the private folder %s", path.c_str());
    if (status.st_uid != geteuid()) return refuse_folder(path, status);
    // Only a very strict umask makes a folder of our own differ from what mkdir was asked for.
    if (made && (status.st_mode & 07777) != 0700 && fchmod(folder->get(), 0700) == 0) return IPC_OK;
    if ((status.st_mode & 07777) != 0700)
        return fail(IPC_NO_PERMISSION,
                    "the private folder %s has mode %04o, so others may have put names there: "
                    "look inside, then chmod it to 0700 or remove it",
                    path.c_str(), static_cast<unsigned>(status.st_mode & 07777));
    return IPC_OK;
}

Status private_name(const Address& address, std::string_view prefix, LocalName* name) {
    if (Status status = check_plain_name(address); status != IPC_OK) return status;
    std::string path = private_folder();
    Descriptor folder;
    if (Status status = open_folder_of_user(path, &folder); status != IPC_OK) return status;
    name->address = address.text();
    name->path = path.append("/").append(prefix).append(address.name());
    return IPC_OK;
}

Status lock_names(Descriptor* lock, const Deadline& deadline) {
    return lock_folder_of_user(private_folder(), lock, deadline);
}

Status lock_folder_of_user(const std::string& path, Descriptor* lock, const Deadline& deadline) {
    if (Status status = open_folder_of_user(path, lock); status != IPC_OK) return status;
    const auto end = std::chrono::steady_clock::now() + lock_patience;
    while (flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail_system(IPC_SYSTEM, errno, "cannot lock the private folder %s", path.c_str());
        if (std::chrono::steady_clock::now() >= end)
            return fail(IPC_SYSTEM, "another process has kept %s locked for %d s: find it with 'fuser %s' and end it",
                        path.c_str(), static_cast<int>(lock_patience.count()), path.c_str());
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "the time-out passed while another process kept %s locked", path.c_str());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return IPC_OK;
}

bool identify(const std::string& path, FileIdentity* identity) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return false;
    *identity = {status.st_dev, status.st_ino, getpid()};
    return true;
}

void remove_name(const std::string& path, const FileIdentity& identity) {
    if (identity.process != getpid()) return;
    // Without the lock, too, should there be no descriptor for it: while the listener is open nobody takes its name for dead.
    Descriptor lock;
    (void)lock_names(&lock);
    FileIdentity now;
    if (identify(path, &now) && now.device == identity.device && now.inode == identity.inode) unlink(path.c_str());
}

Deadline time_to_forget(const Deadline& deadline) {
    constexpr int least_ms = 8, most_ms = 1000;
    return Deadline(deadline.forever() ? most_ms : std::clamp(deadline.left_ms(), least_ms, most_ms));
}

namespace {

// What the system says of a process: /proc/<pid>/stat.
struct ProcessState {
    char letter;
    bool exiting;
    long threads;
};

enum class Known { gone, nothing, all };

Known state_of(pid_t process, ProcessState* state) {
    if (kill(process, 0) != 0) return errno == ESRCH ? Known::gone : Known::nothing;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
    const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
    char text[512];
    const ssize_t length = file ? read(file.get(), text, sizeof text - 1) : -1;
    if (length <= 0) return errno == ENOENT || errno == ESRCH ? Known::gone : Known::nothing;
    text[length] = '\0';
    // pid (name) state parent group session terminal foreground-group flags, four counts of page faults, four times,
    // priority, nice, threads ...: the name may hold anything, even ')'.
    const char* fields = nullptr;
    for (const char* c = text; *c != '\0'; ++c)
        if (*c == ')') fields = c + 1;
    unsigned long flags = 0;
    constexpr const char* form = " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld";
    if (fields == nullptr || std::sscanf(fields, form, &state->letter, &flags, &state->threads) != 3)
        return Known::nothing;
    state->exiting = (flags & exiting_flag) != 0;
    return Known::all;
}

} // namespace

bool is_running(pid_t process) {
    ProcessState state{};
    const Known known = state_of(process, &state);
    return known == Known::nothing || (known == Known::all && !state.exiting);
}

bool is_closing_descriptors(pid_t process) {
    ProcessState state{};
    if (state_of(process, &state) != Known::all || !state.exiting) return false;
    // A zombie has closed its own, but other threads of it may be on their way and have them open still.
    return state.letter != 'Z' || state.threads > 1;
}

} // namespace ipc::posix
