#include "transports/iceoryx/runtime_posix.hpp"

#include "posix/descriptor.hpp"
#include "posix/names.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace ipc::iceoryx {
namespace {

constexpr const char* folder = "/tmp";            // where iceoryx 2.0 keeps its sockets and locks
constexpr const char* daemon_path = "/tmp/roudi"; // the daemon's socket
constexpr const char* how_to_start =
    "start it with 'iox-roudi' (Debian's package iceoryx) and leave it running; 'ipc run' starts one by itself";

std::string name_prefix() {
    return "ipc-iceoryx-" + std::to_string(geteuid()) + "-";
}

// Whether a process has the daemon's socket bound: the system tells before anything is sent.
Status check_daemon(posix::FileIdentity* daemon) {
    if (!posix::identify(daemon_path, daemon))
        return fail(IPC_NOT_AVAILABLE, "iceoryx's daemon RouDi does not run (there is no %s): %s", daemon_path,
                    how_to_start);
    const posix::Descriptor probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, daemon_path, std::strlen(daemon_path));
    if (!probe) return fail_system(IPC_SYSTEM, errno, "cannot make a socket to look for RouDi");
    if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return IPC_OK;
    if (errno == ECONNREFUSED)
        return fail(IPC_NOT_AVAILABLE, "iceoryx's daemon RouDi has ended (nobody listens at %s): %s", daemon_path,
                    how_to_start);
    return fail_system(IPC_NOT_AVAILABLE, errno, "iceoryx's daemon RouDi cannot be reached at %s", daemon_path);
}

// The process in <process>-<16 hexadecimal digits>[.lock]; 0 if the text is not of that form.
pid_t process_of(std::string_view text) {
    if (text.ends_with(".lock")) text.remove_suffix(5);
    pid_t process = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, process);
    return error == std::errc{} && process > 0 && end - rest == 17 && *rest == '-' ? process : 0;
}

} // namespace

Status attach() {
    static std::mutex mutex;
    static bool attached = false;
    static posix::FileIdentity attached_to;
    const std::lock_guard lock(mutex);
    posix::FileIdentity daemon;
    if (Status s = check_daemon(&daemon)) return s;
    if (attached && (daemon.device != attached_to.device || daemon.inode != attached_to.inode))
        return fail(IPC_NOT_AVAILABLE, "iceoryx's daemon RouDi was restarted since this process attached to it, and "
                                       "iceoryx attaches a process only once: restart this process");
    if (attached) return IPC_OK;
    sweep_runtimes();
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        return fail_system(IPC_SYSTEM, errno, "cannot get random bytes for a runtime's name");
    char name[100];
    std::snprintf(name, sizeof name, "%s%d-%016llx", name_prefix().c_str(), static_cast<int>(getpid()),
                  static_cast<unsigned long long>(number));
    // What it has to say it says by the status here; its own lines would stand among those of the program around.
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kOff,
                                                             iox::log::LogLevelOutput::kHideLogLevel);
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
    attached = true;
    attached_to = daemon;
    return IPC_OK;
}

void sweep_runtimes() {
    const std::string expected = name_prefix();
    std::vector<std::string> dead;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder), closedir);
    while (open) {
        const dirent* entry = readdir(open.get());
        if (entry == nullptr) break;
        const std::string_view name = entry->d_name;
        if (!name.starts_with(expected)) continue;
        const pid_t process = process_of(name.substr(expected.size()));
        struct stat status {};
        if (process != 0 && !posix::is_running(process) &&
            fstatat(dirfd(open.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid())
            dead.emplace_back(name);
    }
    for (const std::string& name : dead) unlinkat(dirfd(open.get()), name.c_str(), 0);
}

} // namespace ipc::iceoryx
