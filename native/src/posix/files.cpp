// Lengths and the locks' offsets are 64-bit also in a 32-bit process.
#define _FILE_OFFSET_BITS 64
#include "posix/files.hpp"

#include "posix/held_signal.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>

namespace ipc::posix {
namespace {

static_assert(sizeof(off_t) == 8, "F_OFD_SETLK takes 64-bit offsets");

struct flock exclusive_lock(uint64_t first, uint64_t count) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(first);
    lock.l_len = static_cast<off_t>(count);
    return lock;
}

std::string path_of(const Descriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
}

} // namespace

Descriptor open_nameless(int folder, const char* path) {
    Descriptor file(openat(folder, path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file && fchmod(file.get(), 0600) != 0) {
        const int error = errno;
        file.reset();
        errno = error;
    }
    return file;
}

bool name_file(const Descriptor& file, int folder, const char* path) {
    return linkat(AT_FDCWD, path_of(file).c_str(), folder, path, AT_SYMLINK_FOLLOW) == 0;
}

int take_room(const Descriptor& file, uint64_t bytes) {
    HeldSignal too_large(SIGXFSZ);
    int error;
    do error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
    while (error == EINTR);
    if (error == EFBIG) too_large.was_raised();
    return error;
}

bool set_size(const Descriptor& file, uint64_t bytes) {
    HeldSignal too_large(SIGXFSZ);
    if (ftruncate(file.get(), static_cast<off_t>(bytes)) == 0) return true;
    if (errno == EFBIG) too_large.was_raised();
    return false;
}

bool try_lock_bytes(const Descriptor& file, uint64_t first, uint64_t count) {
    struct flock lock = exclusive_lock(first, count);
    return fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

bool are_bytes_locked(const Descriptor& file, uint64_t first, uint64_t count) {
    struct flock lock = exclusive_lock(first, count);
    return fcntl(file.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void* map_file(const Descriptor& file, size_t bytes) {
    const Descriptor again(open(path_of(file).c_str(), O_RDWR | O_CLOEXEC));
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, again ? again.get() : file.get(), 0);
}

} // namespace ipc::posix
