#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "core/status.hpp"
#include "shared_memory/memory_file.hpp"
#include "transports/ring/layout.hpp"
#if defined(_WIN32)
#    include "shared_memory/named_places_win32.hpp"
#    include "win32/private_files.hpp"
#else
#    include "posix/names.hpp"
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ipc::ring {

// Where a ring stands: its address, for error messages, and its path.
#if defined(_WIN32)
using RingName = win32::PrivateFile;
#else
using RingName = posix::LocalName;
#endif

// The file ring-<name>, mapped, and this opener's place among those who have it open: its number, which stands
// in the state of every block it claims and on whose byte it holds a lock for as long as it lives.
class RingFile {
  public:
    // Opens the ring of this name, or makes one as the address's options say; a ring that nobody has open is made anew. The deadline is
    // for the folder's lock, the one thing to wait for.
    static Status open(const Address& address, std::unique_ptr<RingFile>* file,
                       const Deadline& deadline = Deadline(IPC_FOREVER));
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
    const std::string& address() const { return name_.address; } // for error messages

    uint32_t number() const { return number_; } // 1 .. most_owners
    // Whether the opener of this number still has the ring open; true also when that cannot be found out.
    bool is_alive(uint32_t number) const;

  private:
    RingFile(RingName name, shared_memory::MemoryFile file) : name_(std::move(name)), file_(std::move(file)) {}
    static Status sizes_of(const Address& address, uint32_t* block_count, uint32_t* block_bytes);
    Status map();
    // Takes the numbers of a mapped file over, which others can change at any time; false if they cannot be.
    bool read_header();
    Status take_number();
    enum class Signed { yes, taken, failed };
    Signed sign(uint32_t number) const;
    bool is_signed(uint32_t number) const;

    RingName name_;
    shared_memory::MemoryFile file_;
    std::byte* memory_ = nullptr;
    size_t bytes_ = 0;
    Order order_ = Order::fifo;
    uint32_t block_count_ = 0;
    uint32_t block_bytes_ = 0;
    uint32_t number_ = 0;
#if defined(_WIN32)
    Status open_places();
    std::unique_ptr<shared_memory::NamedPlaces> places_; // goes before the mapping
#endif
};

#if !defined(_WIN32)
// The folder all rings of this user stand in.
std::string ring_folder();
#endif

} // namespace ipc::ring
