#include "transports/fifo/fifo_names_posix.hpp"

#include "core/frame_header.hpp"
#include "posix/names.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <thread>

namespace ipc {
namespace {

constexpr uint32_t record_magic = 0x46435049;
constexpr uint32_t record_version = 1;
constexpr size_t token_at = 8;

bool is_own_fifo(const struct stat& status) {
    return S_ISFIFO(status.st_mode) && status.st_uid == geteuid();
}

void remove_own_fifo(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0 && is_own_fifo(status)) unlink(path.c_str());
}

} // namespace

FifoRecord make_fifo_record(std::string_view token) {
    FifoRecord record{};
    auto* bytes = reinterpret_cast<std::byte*>(record.data());
    store_u32(bytes, record_magic);
    store_u32(bytes + 4, record_version);
    std::copy_n(token.data(), fifo_token_size, record.data() + token_at);
    return record;
}

bool read_fifo_record(const char* bytes, std::string* token) {
    const auto* raw = reinterpret_cast<const std::byte*>(bytes);
    if (load_u32(raw) != record_magic || load_u32(raw + 4) != record_version) return false;
    const char* const end = bytes + token_at + fifo_token_size;
    // Only such characters: the token becomes part of a path.
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (!std::all_of(bytes + token_at, end, is_digit)) return false;
    if (!std::all_of(end, bytes + fifo_record_size, [](char c) { return c == 0; })) return false;
    token->assign(bytes + token_at, end);
    return true;
}

posix::Descriptor open_fifo(const std::string& path, int access) {
    posix::Descriptor opened(open(path.c_str(), access | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (opened && (fstat(opened.get(), &status) != 0 || !is_own_fifo(status))) {
        opened.reset();
        errno = EPERM;
    }
    return opened;
}

bool is_another_users(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && status.st_uid != geteuid();
}

bool remove_dead_fifo(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !is_own_fifo(status)) return false;
    return !open_fifo(path, O_WRONLY) && errno == ENXIO && unlink(path.c_str()) == 0;
}

namespace {

// True if there is no name any more.
bool try_to_forget(const std::string& path, const Deadline& patience) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return true;
    posix::Descriptor lock;
    return posix::lock_names(&lock, patience) == IPC_OK && remove_dead_fifo(path);
}

} // namespace

bool forget_dead_fifo_server(const std::string& path, const Deadline& deadline) {
    // A dying process closes its descriptors one by one, perhaps this connection before its handshake.
    const Deadline patience = posix::time_to_forget(deadline);
    for (int waited_ms = 0; waited_ms <= 5; ++waited_ms) {
        if (waited_ms != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (try_to_forget(path, patience)) return true;
        if (patience.expired()) return false;
    }
    return false;
}

void forget_fifo_server_if_dead(const std::string& path) {
    // Whoever tries a dead socket's name keeps the lock for 10 ms, and this is the last chance.
    try_to_forget(path, Deadline(50));
}

FifoPair::FifoPair(const std::string& handshake_fifo, std::string_view token)
    : up_(handshake_fifo + "." + std::string(token) + ".up"),
      down_(handshake_fifo + "." + std::string(token) + ".down") {}

// `.down` is made first and removed last: while there is an `.up` there is a `.down`, whose reader tells whether the
// client lives (remove_dead_pairs).
FifoPair::~FifoPair() {
    remove_own_fifo(up_);
    remove_own_fifo(down_);
}

Status FifoPair::make(const Deadline& deadline, posix::Descriptor* down) {
    posix::Descriptor lock;
    if (Status status = posix::lock_names(&lock, deadline); status != IPC_OK) return status;
    if (mkfifo(down_.c_str(), 0600) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot make the FIFO %s", down_.c_str());
    *down = open_fifo(down_, O_RDONLY);
    if (!*down) return fail_system(IPC_SYSTEM, errno, "cannot open the FIFO %s", down_.c_str());
    if (mkfifo(up_.c_str(), 0600) != 0) return fail_system(IPC_SYSTEM, errno, "cannot make the FIFO %s", up_.c_str());
    return IPC_OK;
}

void remove_dead_pairs(const std::string& handshake_fifo) {
    namespace fs = std::filesystem;
    const std::string start = fs::path(handshake_fifo).filename().string() + ".";
    constexpr std::string_view ending = ".down";
    std::error_code error; // what cannot be listed or removed stays for the next listener
    fs::directory_iterator entry(fs::path(handshake_fifo).parent_path(), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.size() != start.size() + fifo_token_size + ending.size() || !name.starts_with(start) ||
            !name.ends_with(ending))
            continue;
        const std::string down = entry->path().string();
        if (!remove_dead_fifo(down)) continue;
        remove_own_fifo(down.substr(0, down.size() - ending.size()) + ".up");
    }
}

} // namespace ipc
