#include "transports/queue/queue_file.hpp"
#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <cstring>

namespace ipc::queue {
namespace {

using win32::Handle;
using win32::PrivateFile;

// The semaphores' numbers are part of their names.
enum Word : unsigned { writer_lock = 0, reader_lock = 1, readers_parked = 2, writers_parked = 3 };

std::string shown(const PrivateFile& place) {
    return win32::to_utf8(place.path());
}

// Complete before it has its name: nobody ever opens a half-made one.
Status make(const PrivateFile& place, uint32_t size, Handle* file) {
    if (Status s = win32::make_private_file(place, uint64_t{header_bytes} + size, file)) return s;
    struct {
        FileFormat format;
        char unused[offsetof(Header, wake_name) - sizeof(FileFormat)];
        uint32_t wake_name[4];
    } beginning{
        {file_magic, file_version, size, 0}, {}, {}}; // fresh memory is zero, which is every other word's first value
    static_assert(sizeof beginning == offsetof(Header, wake_name) + 16);
    shared_memory::NamedPlaces::make_name(beginning.wake_name);
    OVERLAPPED start{};
    DWORD written = 0;
    if (!WriteFile(file->get(), &beginning, sizeof beginning, &written, &start) || written != sizeof beginning)
        return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot write the queue %s", shown(place).c_str());
    return win32::name_private_file(place, *file);
}

Status check_file(const Handle& file, const PrivateFile& place, uint32_t* size) {
    FileFormat format{};
    if (!win32::read_beginning(file, &format, sizeof format) || format.magic != file_magic)
        return fail(IPC_NOT_OUR_PROTOCOL, "%s is not a queue, or is damaged: remove it with ipc_queue_remove",
                    shown(place).c_str());
    if (format.version != file_version)
        return fail(IPC_NOT_OUR_PROTOCOL,
                    "the queue %s was made by version %u of its format and this library has %u: remove it",
                    shown(place).c_str(), format.version, file_version);
    if (!is_size(format.size) || win32::bytes_of(file) != uint64_t{header_bytes} + format.size)
        return fail(IPC_NOT_OUR_PROTOCOL, "the queue %s is truncated or damaged: remove it with ipc_queue_remove",
                    shown(place).c_str());
    *size = format.size;
    return IPC_OK;
}

} // namespace

Status QueueFile::open(const Address& address, uint32_t size, std::unique_ptr<QueueFile>* file,
                       const Deadline& deadline) {
    PrivateFile place;
    Handle lock, opened;
    uint32_t size_found = 0;
    void* memory = nullptr;
    if (Status s = win32::private_file(address, "queue-", &place)) return s;
    if (Status s = win32::lock_folder(place, &lock, deadline)) return s;
    win32::sweep_private_files(place);
    if (Status s = win32::open_private_file(place, &opened)) return s;
    if (!opened)
        if (Status s = make(place, size, &opened)) return s;
    if (Status s = check_file(opened, place, &size_found)) return s;
    if (Status s = win32::map_private_file(place, opened, uint64_t{header_bytes} + size_found, &memory)) return s;
    std::unique_ptr<QueueFile> made(new QueueFile(std::move(opened), memory, size_found));
    made->place_ = place;
    made->places_ = std::make_unique<shared_memory::NamedPlaces>();
    Header& header = made->header();
    uint32_t name[4];
    std::memcpy(name, header.wake_name, sizeof name);
    shared_memory::NamedPlaces& places = *made->places_;
    places.set_name(name);
    if (Status s = places.add(writer_lock, header.writer_lock, nullptr)) return s;
    if (Status s = places.add(reader_lock, header.reader_lock, nullptr)) return s;
    if (Status s = places.add(readers_parked, header.readers_parked, &header.readers_woken)) return s;
    if (Status s = places.add(writers_parked, header.writers_parked, &header.writers_woken)) return s;
    if (Status s = made->become_participant(address)) return s;
    *file = std::move(made);
    return IPC_OK;
}

Status QueueFile::remove(const Address& address) {
    PrivateFile place;
    Handle lock, opened;
    if (Status s = win32::private_file(address, "queue-", &place)) return s;
    if (Status s = win32::lock_folder(place, &lock)) return s;
    if (Status s = win32::open_private_file(place, &opened)) return s;
    if (!opened) return fail(IPC_NO_SERVER, "no queue is named %s: there is nothing to remove", address.text().c_str());
    if (Status s = win32::remove_private_file(place, opened)) return s;
    opened.reset();
    win32::sweep_private_files(place);
    return IPC_OK;
}

QueueFile::~QueueFile() {
    places_.reset();
    win32::unmap_private_file(memory_);
    file_.reset();
    win32::sweep_private_files(place_); // removed meanwhile, it may go now
}

QueueFile::Signed QueueFile::sign(uint32_t participant) const {
    if (win32::try_lock_number(file_, participant)) return Signed::yes;
    const DWORD error = GetLastError();
    if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return Signed::taken;
    win32::fail_windows(IPC_SYSTEM, error, "cannot lock a byte of the queue's file");
    return Signed::failed;
}

bool QueueFile::is_signed(uint32_t participant) const {
    return win32::are_numbers_locked(file_, participant, 1);
}

} // namespace ipc::queue
