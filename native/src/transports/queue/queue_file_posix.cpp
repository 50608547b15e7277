#include "core/plain_name.hpp"
#include "posix/files.hpp"
#include "posix/names.hpp"
#include "transports/queue/queue_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ipc::queue {
namespace {

constexpr int most_tries = 100;

// The folder and the name in it.
struct Place {
    posix::Descriptor folder;
    std::string name;
    std::string path; // for error messages
};

Status find_place(const Address& address, Place* place) {
    if (Status s = check_plain_name(address)) return s;
    const std::string folder = posix::memory_folder();
    if (Status s = posix::open_folder_of_user(folder, &place->folder)) return s;
    place->name = "queue-" + address.name();
    place->path = folder + "/" + place->name;
    return IPC_OK;
}

// Makes the file without a name, completes it, then gives it the name: nobody ever opens a half-made one, and a process killed
// here leaves nothing behind. True: it is there, made by us or by somebody who was faster.
Status make(const Place& place, uint32_t size) {
    const posix::Descriptor file = posix::open_nameless(place.folder.get(), ".");
    if (!file) return fail_system(IPC_SYSTEM, errno, "cannot make a file for the queue %s", place.path.c_str());
    const int error = posix::take_room(file, uint64_t{header_bytes} + size);
    if (error == ENOSPC || error == ENOMEM)
        return fail(
            IPC_OUT_OF_MEMORY,
            "there is no room for the queue %s of %u bytes: remove queues no longer used, or make a smaller one "
            "with size=",
            place.path.c_str(), size);
    if (error != 0)
        return fail_system(IPC_SYSTEM, error, "cannot take %u bytes for the queue %s", size, place.path.c_str());
    const FileFormat format{file_magic, file_version, size,
                            0}; // fresh memory is zero, which is every other word's first value
    if (pwrite(file.get(), &format, sizeof format, 0) != static_cast<ssize_t>(sizeof format))
        return fail_system(IPC_SYSTEM, errno, "cannot write the queue %s", place.path.c_str());
    if (posix::name_file(file, place.folder.get(), place.name.c_str()) || errno == EEXIST) return IPC_OK;
    return fail_system(IPC_SYSTEM, errno, "cannot name the queue %s", place.path.c_str());
}

Status open_or_make(const Place& place, uint32_t size, posix::Descriptor* file) {
    for (int tries = 0; tries < most_tries; ++tries) {
        // O_NONBLOCK: what stands there could be a FIFO, and opening it must not hang.
        file->reset(openat(place.folder.get(), place.name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (*file) return IPC_OK;
        if (errno == ELOOP || errno == EISDIR || errno == ENXIO)
            return fail(IPC_NOT_OUR_PROTOCOL, "%s is a link, folder or socket, not a queue: remove it",
                        place.path.c_str());
        if (errno == EACCES)
            return fail_system(IPC_NO_PERMISSION, errno, "cannot open the queue %s", place.path.c_str());
        if (errno != ENOENT) return fail_system(IPC_SYSTEM, errno, "cannot open the queue %s", place.path.c_str());
        if (Status s = make(place, size)) return s;
    }
    return fail(IPC_SYSTEM, "%s is removed again and again while this process opens it", place.path.c_str());
}

// The file must be this user's alone, and as large as its form says: touching memory beyond a file's end kills the process.
Status check_file(const posix::Descriptor& file, const Place& place, uint32_t* size) {
    struct stat about {};
    if (fstat(file.get(), &about) != 0)
        return fail_system(IPC_SYSTEM, errno, "cannot look at the queue %s", place.path.c_str());
    if (!S_ISREG(about.st_mode)) return fail(IPC_NOT_OUR_PROTOCOL, "%s is not a queue: remove it", place.path.c_str());
    if (about.st_uid != geteuid() || (about.st_mode & 0077) != 0)
        return fail(IPC_NO_PERMISSION,
                    "the queue %s belongs to another user or is open to others (mode %04o): have it removed",
                    place.path.c_str(), static_cast<unsigned>(about.st_mode & 07777));
    FileFormat format{};
    const bool whole = pread(file.get(), &format, sizeof format, 0) == static_cast<ssize_t>(sizeof format);
    if (!whole || format.magic != file_magic)
        return fail(IPC_NOT_OUR_PROTOCOL, "%s is not a queue, or is damaged: remove it with ipc_queue_remove",
                    place.path.c_str());
    if (format.version != file_version)
        return fail(IPC_NOT_OUR_PROTOCOL,
                    "the queue %s was made by version %u of its format and this library has %u: remove it",
                    place.path.c_str(), format.version, file_version);
    if (!is_size(format.size) || about.st_size != off_t{header_bytes} + format.size)
        return fail(IPC_NOT_OUR_PROTOCOL, "the queue %s is truncated or damaged: remove it with ipc_queue_remove",
                    place.path.c_str());
    *size = format.size;
    return IPC_OK;
}

} // namespace

Status QueueFile::open(const Address& address, uint32_t size, std::unique_ptr<QueueFile>* file, const Deadline&) {
    Place place;
    posix::Descriptor opened;
    uint32_t size_found = 0;
    if (Status s = find_place(address, &place)) return s;
    if (Status s = open_or_make(place, size, &opened)) return s;
    if (Status s = check_file(opened, place, &size_found)) return s;
    const size_t bytes = size_t{header_bytes} + size_found;
    void* memory = posix::map_file(opened, bytes);
    if (memory == MAP_FAILED)
        return fail_system(errno == ENOMEM ? IPC_OUT_OF_MEMORY : IPC_SYSTEM, errno,
                           "cannot map the %zu bytes of the queue %s", bytes, place.path.c_str());
    std::unique_ptr<QueueFile> made(new QueueFile(std::move(opened), memory, size_found));
    if (Status s = made->become_participant(address)) return s;
    *file = std::move(made);
    return IPC_OK;
}

Status QueueFile::remove(const Address& address) {
    Place place;
    if (Status s = find_place(address, &place)) return s;
    if (unlinkat(place.folder.get(), place.name.c_str(), 0) == 0) return IPC_OK;
    if (errno == ENOENT)
        return fail(IPC_NO_SERVER, "no queue is named %s: there is nothing to remove", address.text().c_str());
    return fail_system(IPC_SYSTEM, errno, "cannot remove the queue %s", place.path.c_str());
}

QueueFile::~QueueFile() {
    munmap(memory_, size_t{header_bytes} + size_);
}

// One byte of the file for each participant.
QueueFile::Signed QueueFile::sign(uint32_t participant) const {
    if (posix::try_lock_bytes(file_, participant, 1)) return Signed::yes;
    if (errno == EAGAIN || errno == EACCES) return Signed::taken;
    fail_system(IPC_SYSTEM, errno, "cannot lock a byte of the queue's file");
    return Signed::failed;
}

bool QueueFile::is_signed(uint32_t participant) const {
    return posix::are_bytes_locked(file_, participant, 1);
}

} // namespace ipc::queue
