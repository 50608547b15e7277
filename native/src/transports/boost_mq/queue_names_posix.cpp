#include "transports/boost_mq/queue_names_posix.hpp"

#include "posix/names.hpp"
#include "transports/boost_mq/queue_posix.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ipc::boost_mq {
namespace {

constexpr const char* folder = "/dev/shm";

std::string prefix(const Address& address) {
    return "ipc-boost-mq-" + std::to_string(geteuid()) + "-" + address.name() + "-";
}

// The process in <process>-<16 hexadecimal digits>; 0 if the text is not of that form.
pid_t process_of(std::string_view text) {
    pid_t process = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, process);
    if (error != std::errc{} || process <= 0 || end - rest != 17 || *rest != '-') return 0;
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return std::all_of(rest + 1, end, is_hex) ? process : 0;
}

} // namespace

Status new_queue_id(const Address& address, std::string* id) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        return fail_system(IPC_SYSTEM, errno, "cannot get random bytes for a queue's name");
    char ending[64];
    std::snprintf(ending, sizeof ending, "%d-%016llx", static_cast<int>(getpid()),
                  static_cast<unsigned long long>(number));
    *id = prefix(address) + ending;
    return IPC_OK;
}

bool is_queue_id(const Address& address, std::string_view id) {
    const std::string expected = prefix(address);
    return id.starts_with(expected) && process_of(id.substr(expected.size())) != 0;
}

void sweep_queues(const Address& address) {
    const std::string expected = prefix(address);
    std::vector<std::string> dead;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder), closedir);
    while (open) {
        const dirent* entry = readdir(open.get());
        if (entry == nullptr) break;
        const std::string_view name = entry->d_name;
        if (!name.starts_with(expected) || !(name.ends_with("-c") || name.ends_with("-s"))) continue;
        const pid_t process = process_of(name.substr(expected.size(), name.size() - expected.size() - 2));
        struct stat status {};
        if (process != 0 && !posix::is_running(process) &&
            fstatat(dirfd(open.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_uid == geteuid())
            dead.emplace_back(name);
    }
    for (const std::string& name : dead) Queue::remove(name);
}

} // namespace ipc::boost_mq
