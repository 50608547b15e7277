#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "shared_memory/memory_file.hpp"
#include "transports/queue/layout.hpp"
#if defined(_WIN32)
#    include "shared_memory/named_places_win32.hpp"
#    include "win32/private_files.hpp"
#endif

#include <cstddef>
#include <memory>

namespace ipc::queue {

// One opening of a queue's file: the mapping, and this opening's number among the participants. The number is held by a lock
// on that byte of the file that belongs to the opening, which the kernel lets go when the process ends, however it ends:
// so anybody can tell the living from the dead without trusting process numbers, which are used again.
class QueueFile {
  public:
    // Opens the queue of the address, or makes it with `size` bytes of data area. The name appears when the file is complete. The
    // deadline is for the folder's lock, which Windows needs.
    static Status open(const Address& address, uint32_t size, std::unique_ptr<QueueFile>* file,
                       const Deadline& deadline = Deadline(IPC_FOREVER));
    // IPC_NO_SERVER if there is none.
    static Status remove(const Address& address);
    ~QueueFile();
    QueueFile(const QueueFile&) = delete;
    QueueFile& operator=(const QueueFile&) = delete;

    Header& header() const { return *static_cast<Header*>(memory_); }
    std::byte* data() const { return static_cast<std::byte*>(memory_) + header_bytes; }
    uint32_t size() const { return size_; } // our own copy, checked
    uint32_t participant() const { return participant_; }

    // Whether a participant's process may still be there; true also when that cannot be known.
    bool is_alive(uint32_t participant) const;

  private:
    QueueFile(shared_memory::MemoryFile file, void* memory, uint32_t size)
        : file_(std::move(file)), memory_(memory), size_(size) {}
    Status become_participant(const Address& address);

    // A system's own: tries to sign with a number, and whether another opening has signed with it.
    enum class Signed { yes, taken, failed };
    Signed sign(uint32_t participant) const;
    bool is_signed(uint32_t participant) const;

    shared_memory::MemoryFile file_;
    void* memory_;
    uint32_t size_;
    uint32_t participant_ = 0;
#if defined(_WIN32)
    win32::PrivateFile place_;
    std::unique_ptr<shared_memory::NamedPlaces> places_; // goes before the mapping
#endif
};

} // namespace ipc::queue
