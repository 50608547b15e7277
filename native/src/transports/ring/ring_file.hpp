#pragma once

#include "core/address.hpp"
#include "core/status.hpp"
#include "posix/descriptor.hpp"
#include "posix/names.hpp"
#include "transports/ring/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ipc::ring {

// The file /dev/shm/ipc-<uid>/ring-<name>, mapped, and this opener's place among those who have it open: its number, which stands
// in the state of every block it claims and on whose byte it holds a lock for as long as it lives.
class RingFile {
  public:
    // Opens the ring of this name, or makes one as the address's options say; a ring that nobody has open is made anew.
    static Status open(const Address& address, std::unique_ptr<RingFile>* file);
    // Removes the name. IPC_NO_SERVER if there is none, or one that nobody has open.
    static Status remove(const Address& address);
    // The last one to go removes the name.
    ~RingFile();
    RingFile(const RingFile&) = delete;
    RingFile& operator=(const RingFile&) = delete;

    std::byte* memory() const { return memory_; }
    Order order() const { return order_; }
    uint32_t block_count() const { return block_count_; }
    uint32_t block_bytes() const { return block_bytes_; }
    const std::string& address() const { return name_.address; } // for sentences

    uint32_t number() const { return number_; } // 1 .. most_owners
    // Whether the opener of this number still has the ring open; true also when that cannot be found out.
    bool is_alive(uint32_t number) const;

  private:
    RingFile(posix::LocalName name, posix::Descriptor file) : name_(std::move(name)), file_(std::move(file)) {}
    Status map();
    Status take_number();

    posix::LocalName name_;
    posix::Descriptor file_;
    std::byte* memory_ = nullptr;
    size_t bytes_ = 0;
    Order order_ = Order::fifo;
    uint32_t block_count_ = 0;
    uint32_t block_bytes_ = 0;
    uint32_t number_ = 0;
};

// The folder all rings of this user stand in.
std::string ring_folder();

} // namespace ipc::ring
