// Part of every test program built with ThreadSanitizer (preset tsan), which calls these instead of mmap, munmap and linkat (ld's --wrap).
#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ThreadSanitizer knows memory by its address. Two mappings of one file are two memories to it: it would see no race between
// what one end writes and the other reads, nor the ordering that prevents one. So here a process maps a file once, and both
// ends of a channel, or all users of a queue, meet at the same addresses. Who asks for memory to read may get what others write.
//
// Nor does it know that a file which is found by its name was complete when it got it: the atomic `named` tells it.
extern "C" {

void* __real_mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void* memory, size_t bytes);
int __real_linkat(int old_folder, const char* old_path, int folder, const char* path, int flags);

void* __wrap_mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void* memory, size_t bytes);
int __wrap_linkat(int old_folder, const char* old_path, int folder, const char* path, int flags);
}

namespace {

std::atomic<int> named{0};

struct Mapped {
    dev_t device;
    ino_t inode;
    off_t offset;
    size_t bytes;
    int protection;
    void* memory;
    int users;
};

struct AllMapped {
    std::mutex mutex;
    std::list<Mapped> list;
};

AllMapped& all_mapped() {
    static auto* all = new AllMapped; // never destroyed: objects of static life unmap as well
    return *all;
}

// The same by a description of its own: a mapping keeps the one it was made by open, and with it that one's locks.
void* map_anew(size_t bytes, int protection, int file, off_t offset) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int again = open(path, ((protection & PROT_WRITE) != 0 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    void* memory = __real_mmap(nullptr, bytes, protection, MAP_SHARED, again >= 0 ? again : file, offset);
    if (again >= 0) close(again);
    return memory;
}

} // namespace

void* __wrap_mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
    struct stat about {};
    if (where != nullptr || flags != MAP_SHARED || file < 0 || fstat(file, &about) != 0)
        return __real_mmap(where, bytes, protection, flags, file, offset);
    named.load(std::memory_order_acquire);
    const std::lock_guard lock(all_mapped().mutex);
    for (Mapped& known : all_mapped().list) {
        if (known.device == about.st_dev && known.inode == about.st_ino && known.offset == offset &&
            known.bytes == bytes && (known.protection & protection) == protection) {
            ++known.users;
            return known.memory;
        }
    }
    void* memory = map_anew(bytes, protection, file, offset);
    if (memory == MAP_FAILED) return memory;
    all_mapped().list.push_back({about.st_dev, about.st_ino, offset, bytes, protection, memory, 1});
    return memory;
}

int __wrap_munmap(void* memory, size_t bytes) {
    const std::lock_guard lock(all_mapped().mutex);
    auto& list = all_mapped().list;
    for (auto known = list.begin(); known != list.end(); ++known) {
        if (known->memory != memory || known->bytes != bytes) continue;
        if (--known->users != 0) return 0;
        list.erase(known);
        break;
    }
    return __real_munmap(memory, bytes);
}

int __wrap_linkat(int old_folder, const char* old_path, int folder, const char* path, int flags) {
    named.fetch_add(1, std::memory_order_release);
    return __real_linkat(old_folder, old_path, folder, path, flags);
}
