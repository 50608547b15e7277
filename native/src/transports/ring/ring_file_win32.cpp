#include "transports/ring/ring_file.hpp"
#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <cstring>

namespace ipc::ring {
namespace {

using win32::Handle;

std::string shown(const RingName& name) {
    return win32::to_utf8(name.path());
}

bool anybody_else(const Handle& file) {
    return win32::are_numbers_locked(file, 1, most_owners);
}

// What stands at the name, under the folder's lock; *file stays empty if nothing does.
Status open_existing(const RingName& name, Handle* file) {
    if (Status status = win32::open_private_file(name, file)) return status;
    if (!*file) return IPC_OK;
    // The magic alone tells whose file it is: what is not ours is not ours to remove.
    uint32_t found = 0;
    if (win32::read_beginning(*file, &found, sizeof found) && found == magic) return IPC_OK;
    file->reset();
    return fail(IPC_NOT_OUR_PROTOCOL, "the file %s for %s is not a ring: move it away", shown(name).c_str(),
                name.address.c_str());
}

} // namespace

Status RingFile::open(const Address& address, std::unique_ptr<RingFile>* file, const Deadline& deadline) {
    uint32_t block_count = 0, block_bytes = 0;
    if (Status status = sizes_of(address, &block_count, &block_bytes)) return status;
    RingName name;
    if (Status status = win32::private_file(address, "ring-", &name)) return status;
    // Everybody comes and goes under this lock: whoever is found to have the ring open stays until we have it open too.
    Handle lock, existing;
    if (Status status = win32::lock_folder(name, &lock, deadline)) return status;
    win32::sweep_private_files(name);
    if (Status status = open_existing(name, &existing)) return status;
    if (existing && !anybody_else(existing)) { // its openers were all killed
        if (Status status = win32::remove_private_file(name, existing)) return status;
        existing.reset();
        win32::sweep_private_files(name);
    }
    const bool found = static_cast<bool>(existing);
    if (!found)
        if (Status status = win32::make_private_file(name, file_bytes(block_count, block_bytes), &existing))
            return status;
    std::unique_ptr<RingFile> ring(new RingFile(std::move(name), std::move(existing)));
    if (!found) {
        void* memory = nullptr;
        const uint64_t bytes = file_bytes(block_count, block_bytes);
        if (Status status = win32::map_private_file(ring->name_, ring->file_, bytes, &memory)) return status;
        ring->memory_ = static_cast<std::byte*>(memory);
        ring->bytes_ = static_cast<size_t>(bytes);
        ring->order_ = address.option("order") == "lifo" ? Order::lifo : Order::fifo;
        ring->block_count_ = block_count;
        ring->block_bytes_ = block_bytes;
        format(ring->memory_, ring->order_, block_count, block_bytes);
        shared_memory::NamedPlaces::make_name(reinterpret_cast<Header*>(ring->memory_)->wake_name);
    } else if (Status status = ring->map()) {
        return status;
    }
    if (Status status = ring->open_places()) return status;
    if (Status status = ring->take_number()) return status;
    if (!found) {
        if (Status status = win32::name_private_file(ring->name_, ring->file_)) {
            ring->number_ = 0; // it has no name to remove, and we hold the lock
            return status;
        }
    }
    *file = std::move(ring);
    return IPC_OK;
}

Status RingFile::map() {
    const uint64_t bytes = win32::bytes_of(file_);
    if (bytes >= header_bytes && bytes <= SIZE_MAX / 2) {
        void* memory = nullptr;
        if (Status status = win32::map_private_file(name_, file_, bytes, &memory)) return status;
        memory_ = static_cast<std::byte*>(memory);
        bytes_ = static_cast<size_t>(bytes);
        if (read_header()) return IPC_OK;
    }
    return fail(IPC_NOT_OUR_PROTOCOL, "the ring %s at %s is damaged or of another version: end all who have it open",
                name_.address.c_str(), shown(name_).c_str());
}

Status RingFile::open_places() {
    auto& header = *reinterpret_cast<Header*>(memory_);
    uint32_t wake_name[4];
    std::memcpy(wake_name, header.wake_name, sizeof wake_name);
    places_ = std::make_unique<shared_memory::NamedPlaces>();
    places_->set_name(wake_name);
    for (unsigned side = 0; side < 2; ++side)
        if (Status status = places_->add(side, header.parked[side].word, &header.parked[side].woken)) return status;
    return IPC_OK;
}

RingFile::Signed RingFile::sign(uint32_t number) const {
    if (win32::try_lock_number(file_, number)) return Signed::yes;
    const DWORD error = GetLastError();
    if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return Signed::taken;
    win32::fail_windows(IPC_SYSTEM, error, "cannot lock a place in the ring %s", name_.address.c_str());
    return Signed::failed;
}

bool RingFile::is_signed(uint32_t number) const {
    return win32::are_numbers_locked(file_, number, 1);
}

RingFile::~RingFile() {
    Handle lock;
    // Without the lock the name is left to whoever opens it next. (Without a number this was never open, and the folder is locked.)
    const bool last = number_ != 0 && win32::lock_folder(name_, &lock) == IPC_OK && !anybody_else(file_);
    places_.reset();
    win32::unmap_private_file(memory_);
    if (last) {
        // By its handle: whatever stands at the name by now stays.
        FILE_DISPOSITION_INFO gone{TRUE};
        SetFileInformationByHandle(file_.get(), FileDispositionInfo, &gone, sizeof gone);
    }
    file_.reset(); // while the folder is locked: our number goes, and nobody sees it half gone
}

Status RingFile::remove(const Address& address) {
    RingName name;
    if (Status status = win32::private_file(address, "ring-", &name)) return status;
    Handle lock, existing;
    if (Status status = win32::lock_folder(name, &lock)) return status;
    if (Status status = open_existing(name, &existing)) return status;
    const bool open_somewhere = existing && anybody_else(existing);
    if (existing)
        if (Status status = win32::remove_private_file(name, existing)) return status;
    existing.reset();
    win32::sweep_private_files(name);
    if (open_somewhere) return IPC_OK;
    return fail(IPC_NO_SERVER, "nobody has a ring open at %s: there is nothing to remove", name.address.c_str());
}

} // namespace ipc::ring
