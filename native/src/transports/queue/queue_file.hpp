#pragma once

#include "core/address.hpp"
#include "posix/descriptor.hpp"
#include "transports/queue/layout.hpp"

#include <cstddef>
#include <memory>

namespace ipc::queue {

// One opening of a queue's file: the mapping, and this opening's number among the participants. The number is held by a lock
// on that byte of the file (an open-file-description lock), which the kernel lets go when the process ends, however it ends:
// so anybody can tell the living from the dead without trusting process numbers, which are used again.
class QueueFile {
  public:
    // Opens the queue of the address, or makes it with `size` bytes of data area. The name appears when the file is complete.
    static Status open(const Address& address, uint32_t size, std::unique_ptr<QueueFile>* file);
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
    QueueFile(posix::Descriptor file, void* memory, uint32_t size)
        : file_(std::move(file)), memory_(memory), size_(size) {}
    Status become_participant(const Address& address);

    posix::Descriptor file_;
    void* memory_;
    uint32_t size_;
    uint32_t participant_ = 0;
};

} // namespace ipc::queue
