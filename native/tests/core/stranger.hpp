#pragma once

#include "support.hpp"

#include <functional>
#include <linux/capability.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Taking another user's part, which only root can.
namespace ipc::test {

// Gives up being root for good, but for passing through folders: some machines close "/" itself to other users, and what is
// tested is our own refusal, not theirs.
inline bool become(uid_t user) {
    constexpr uint32_t searching_folders = 1u << CAP_DAC_READ_SEARCH;
    prctl(PR_SET_KEEPCAPS, 1);
    if (setuid(user) != 0) return false;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {{searching_folders, searching_folders, 0}, {}};
    return syscall(SYS_capset, &header, data) == 0;
}

// Runs in a process of a user that has nothing else in the system. Returns whether `work` did.
inline bool as_stranger(const std::function<bool()>& work) {
    const uid_t stranger = 1'000'000 + static_cast<uid_t>(getpid());
    const Child child([&] { return become(stranger) && work(); });
    for (const char* root : {"/tmp", "/dev/shm"}) {
        const std::string folder = std::string(root) + "/ipc-" + std::to_string(stranger);
        unlink(folder.c_str());
        rmdir(folder.c_str());
    }
    return child.ready();
}

} // namespace ipc::test
