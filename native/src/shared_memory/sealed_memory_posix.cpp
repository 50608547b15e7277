#include "posix/files.hpp"
#include "shared_memory/sealed_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined(IPC_THREAD_SANITIZER)
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace ipc::shared_memory {
namespace {

// ThreadSanitizer takes mapping over memory for a write to all of it. It is none: the system swaps whole pages, and another
// thread's atomic look finds a word of the old page or of the new one.
struct LooksMeanwhileAreIntended {
#if defined(IPC_THREAD_SANITIZER)
    LooksMeanwhileAreIntended() {
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    ~LooksMeanwhileAreIntended() {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    }
#else
    LooksMeanwhileAreIntended() {} // not trivial, or it would be an unused variable
#endif
};

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

Status no_huge_pages(size_t bytes) {
    return fail_system(
        IPC_NOT_AVAILABLE, errno,
        "cannot have %zu bytes in huge pages: reserve some with 'sysctl vm.nr_hugepages=N', or leave pages=huge "
        "out",
        bytes);
}

bool is_of_huge_pages(const posix::Descriptor& file) {
    struct stat about {};
    return fstat(file.get(), &about) == 0 && about.st_blksize > 65536; // no normal page is so large
}

} // namespace

Mapping::~Mapping() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

Status make_sealed_memory(size_t bytes, posix::Descriptor* file) {
    return make_sealed_memory(&bytes, Pages::normal, file);
}

Status make_sealed_memory(size_t* bytes, Pages pages, posix::Descriptor* file) {
    const bool huge = pages == Pages::huge;
    file->reset(memfd_create("ipc", MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? MFD_HUGETLB : 0u)));
    struct stat about {};
    if (huge && *file && fstat(file->get(), &about) == 0) {
        const auto page = static_cast<size_t>(about.st_blksize);
        *bytes = (*bytes + page - 1) / page * page;
    }
    if (*file && posix::set_size(*file, *bytes) && fcntl(file->get(), F_ADD_SEALS, size_seals) == 0) return IPC_OK;
    return huge ? no_huge_pages(*bytes)
                : fail_system(IPC_SYSTEM, errno, "cannot make %zu bytes of shared memory", *bytes);
}

size_t sealed_bytes(const posix::Descriptor& file) {
    struct stat about {};
    // -1, for what cannot be sealed at all, has every bit set.
    const int seals = fcntl(file.get(), F_GET_SEALS);
    if (seals < 0 || (seals & size_seals) != size_seals || fstat(file.get(), &about) != 0) return 0;
    return about.st_size > PTRDIFF_MAX ? SIZE_MAX : static_cast<size_t>(about.st_size);
}

Status map_memory(const posix::Descriptor& file, size_t bytes, Access access, Mapping* mapping) {
    if (bytes > PTRDIFF_MAX) return too_much_to_map();
    const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
    void* memory = mmap(nullptr, bytes, protection, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) {
        const int why = errno;
        const bool huge = is_of_huge_pages(file); // which are not reserved before they are mapped
        errno = why;
        return huge ? no_huge_pages(bytes)
                    : fail_system(IPC_SYSTEM, why, "cannot map %zu bytes of shared memory", bytes);
    }
    *mapping = Mapping(memory, bytes);
    return IPC_OK;
}

Status prefault(const Mapping& mapping) {
    constexpr int populate_for_writing = 23; // MADV_POPULATE_WRITE, since Linux 5.14
    if (madvise(mapping.data(), mapping.bytes(), populate_for_writing) == 0) return IPC_OK;
    return fail_system(IPC_NOT_AVAILABLE, errno,
                       "cannot have all %zu bytes of shared memory put in place beforehand: leave prefault=yes out",
                       mapping.bytes());
}

Status map_memory_over(void* where, const posix::Descriptor& file, size_t bytes) {
    const LooksMeanwhileAreIntended intended;
    if (mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED)
        return fail_system(IPC_SYSTEM, errno, "cannot map %zu bytes of shared memory", bytes);
    return IPC_OK;
}

Status freeze_writers(const posix::Descriptor& file, posix::Descriptor* for_readers) {
    // Kernels before 5.1 know no such seal; there the read-only descriptor alone has to do.
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0 && errno != EINVAL)
        return fail_system(IPC_SYSTEM, errno, "cannot seal shared memory against writing");
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot seal shared memory");
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file.get());
    for_readers->reset(open(path, O_RDONLY | O_CLOEXEC));
    if (!*for_readers) return fail_system(IPC_SYSTEM, errno, "cannot open shared memory for readers by %s", path);
    return IPC_OK;
}

} // namespace ipc::shared_memory
