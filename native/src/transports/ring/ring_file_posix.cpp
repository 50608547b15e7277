#include "core/plain_name.hpp"
#include "posix/backoff.hpp"
#include "posix/files.hpp"
#include "transports/ring/ring_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ipc::ring {
namespace {

using posix::Descriptor;
using posix::LocalName;

// A byte's offset is the number of the opener that locks it.
bool anybody_else(const Descriptor& file) {
    return posix::are_bytes_locked(file, 1, most_owners);
}

Status name_of(const Address& address, LocalName* name) {
    if (Status status = check_plain_name(address)) return status;
    *name = {address.text(), ring_folder() + "/ring-" + address.name()};
    return IPC_OK;
}

// Opens what stands at the name, under the folder's lock; *file stays empty if nothing does.
Status open_existing(const LocalName& name, Descriptor* file) {
    file->reset(open(name.path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!*file && errno == ENOENT) return IPC_OK;
    const int error = errno;
    if (!*file && posix::is_shortage(error))
        return fail_system(IPC_SYSTEM, error, "cannot open %s for %s", name.path.c_str(), name.address.c_str());
    struct stat about {};
    if (!*file || fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid()) {
        file->reset();
        return fail_system(IPC_NO_PERMISSION, error, "what stands at %s for %s is not a file of this user: remove it",
                           name.path.c_str(), name.address.c_str());
    }
    // The magic alone tells whose file it is: what is not ours is not ours to remove.
    uint32_t found = 0;
    if (pread(file->get(), &found, sizeof found, 0) == sizeof found && found == magic) return IPC_OK;
    file->reset();
    return fail(IPC_NOT_OUR_PROTOCOL, "the file %s for %s is not a ring: move it away", name.path.c_str(),
                name.address.c_str());
}

} // namespace

std::string ring_folder() {
    return posix::memory_folder();
}

Status RingFile::open(const Address& address, std::unique_ptr<RingFile>* file, const Deadline& deadline) {
    uint32_t block_count = 0, block_bytes = 0;
    if (Status status = sizes_of(address, &block_count, &block_bytes)) return status;
    LocalName name;
    if (Status status = name_of(address, &name)) return status;
    // Everybody comes and goes under this lock: whoever is found to have the ring open stays until we have it open too.
    Descriptor lock, existing;
    if (Status status = posix::lock_folder_of_user(ring_folder(), &lock, deadline)) return status;
    if (Status status = open_existing(name, &existing)) return status;
    if (existing && !anybody_else(existing)) {
        unlink(name.path.c_str()); // its openers were all killed
        existing.reset();
    }
    if (existing) {
        std::unique_ptr<RingFile> opened(new RingFile(std::move(name), std::move(existing)));
        if (Status status = opened->map()) return status;
        if (Status status = opened->take_number()) return status;
        *file = std::move(opened);
        return IPC_OK;
    }
    // Made without a name, which it gets once it is complete: no half-made ring stays behind, wherever we are killed.
    Descriptor made = posix::open_nameless(AT_FDCWD, ring_folder().c_str());
    const uint64_t bytes = file_bytes(block_count, block_bytes);
    const int error = !made ? errno : posix::take_room(made, bytes);
    if (error == ENOMEM || error == ENOSPC)
        return fail(IPC_OUT_OF_MEMORY,
                    "there is no room in %s for the ring %s of %llu bytes: remove rings no longer used, or make a "
                    "smaller one with blocks= or block=",
                    ring_folder().c_str(), name.address.c_str(), static_cast<unsigned long long>(bytes));
    if (error != 0)
        return fail_system(IPC_SYSTEM, error, "cannot make %llu bytes of shared memory in %s for %s",
                           static_cast<unsigned long long>(bytes), ring_folder().c_str(), name.address.c_str());
    std::unique_ptr<RingFile> ring(new RingFile(std::move(name), std::move(made)));
    void* memory = posix::map_file(ring->file_, static_cast<size_t>(bytes));
    if (memory == MAP_FAILED)
        return fail_system(IPC_SYSTEM, errno, "cannot map %llu bytes of shared memory",
                           static_cast<unsigned long long>(bytes));
    ring->memory_ = static_cast<std::byte*>(memory);
    ring->bytes_ = static_cast<size_t>(bytes);
    ring->order_ = address.option("order") == "lifo" ? Order::lifo : Order::fifo;
    ring->block_count_ = block_count;
    ring->block_bytes_ = block_bytes;
    format(ring->memory_, ring->order_, block_count, block_bytes);
    if (Status status = ring->take_number()) return status;
    if (!posix::name_file(ring->file_, AT_FDCWD, ring->name_.path.c_str())) {
        ring->number_ = 0; // it has no name to remove, and we hold the lock
        return fail_system(IPC_SYSTEM, errno, "cannot give the new ring its name %s", ring->name_.path.c_str());
    }
    *file = std::move(ring);
    return IPC_OK;
}

Status RingFile::map() {
    struct stat about {};
    const bool large_enough = fstat(file_.get(), &about) == 0 && about.st_size >= static_cast<off_t>(header_bytes);
    if (large_enough && about.st_size > PTRDIFF_MAX)
        return fail(IPC_OUT_OF_MEMORY, "the ring %s has %lld bytes, more than a %zu-bit process can map",
                    name_.address.c_str(), static_cast<long long>(about.st_size), sizeof(void*) * 8);
    if (large_enough) {
        void* memory = posix::map_file(file_, static_cast<size_t>(about.st_size));
        if (memory == MAP_FAILED) return fail_system(IPC_SYSTEM, errno, "cannot map %s", name_.path.c_str());
        memory_ = static_cast<std::byte*>(memory);
        bytes_ = static_cast<size_t>(about.st_size);
        if (read_header()) return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the ring %s at %s is damaged or of another version: end all who have it open",
                name_.address.c_str(), name_.path.c_str());
}

RingFile::Signed RingFile::sign(uint32_t number) const {
    if (posix::try_lock_bytes(file_, number, 1)) return Signed::yes;
    if (errno == EAGAIN || errno == EACCES || errno == EINTR) return Signed::taken;
    fail_system(IPC_SYSTEM, errno, "cannot lock a place in the ring %s", name_.address.c_str());
    return Signed::failed;
}

bool RingFile::is_signed(uint32_t number) const {
    return posix::are_bytes_locked(file_, number, 1);
}

RingFile::~RingFile() {
    Descriptor lock;
    posix::FileIdentity at_name;
    struct stat about {};
    // Without the lock the name is left to whoever opens it next. (Without a number this was never open, and the folder is locked.)
    if (number_ != 0 && posix::lock_folder_of_user(ring_folder(), &lock) == IPC_OK && !anybody_else(file_) &&
        fstat(file_.get(), &about) == 0 && posix::identify(name_.path, &at_name) && at_name.device == about.st_dev &&
        at_name.inode == about.st_ino)
        unlink(name_.path.c_str());
    if (memory_ != nullptr) munmap(memory_, bytes_);
    file_.reset(); // while the folder is locked: our number goes, and nobody sees it half gone
}

Status RingFile::remove(const Address& address) {
    LocalName name;
    if (Status status = name_of(address, &name)) return status;
    Descriptor lock, existing;
    if (Status status = posix::lock_folder_of_user(ring_folder(), &lock)) return status;
    if (Status status = open_existing(name, &existing)) return status;
    const bool open_somewhere = existing && anybody_else(existing);
    if (existing && unlink(name.path.c_str()) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot remove %s", name.path.c_str());
    if (open_somewhere) return IPC_OK;
    return fail(IPC_NO_SERVER, "nobody has a ring open at %s: there is nothing to remove", name.address.c_str());
}

} // namespace ipc::ring
