#pragma once

#include "core/status.hpp"
#include "shared_memory/memory_file.hpp"

#include <cstddef>
#include <utility>

namespace ipc::shared_memory {

// Memory mapped into this process; unmapped with this object.
class Mapping {
  public:
    Mapping() = default;
    Mapping(void* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}
    Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Mapping();

    std::byte* data() const { return static_cast<std::byte*>(memory_); }
    size_t bytes() const { return bytes_; }

  private:
    void* memory_ = nullptr;
    size_t bytes_ = 0;
};

enum class Pages { normal, huge };

// Nameless memory of zeros that can neither grow nor shrink, so that nobody who maps it can be killed by touching it.
Status make_sealed_memory(size_t bytes, MemoryFile* file);
// The same of either kind of page. Huge ones round *bytes up; IPC_NOT_AVAILABLE when the system has too few of them.
Status make_sealed_memory(size_t* bytes, Pages pages, MemoryFile* file);
// The size of what a peer handed over; 0 if it is not sealed so. (A section of Windows cannot be resized; there 0 means that not all
// of it has memory of the system's behind it.) SIZE_MAX if it is more than this process can map or even count.
size_t sealed_bytes(const MemoryFile& file);

enum class Access { read, read_write };
// IPC_OUT_OF_MEMORY for SIZE_MAX bytes.
Status map_memory(const MemoryFile& file, size_t bytes, Access access, Mapping* mapping);
// That failure of map_memory.
Status too_much_to_map();
// Has the system put memory behind every page now rather than at its first use. IPC_NOT_AVAILABLE when it refuses.
Status prefault(const Mapping& mapping);
// The same in place of what is mapped at `where`, at one stroke: who looks there meanwhile finds the old or the new.
Status map_memory_over(void* where, const MemoryFile& file, size_t bytes);

// Keeps everybody, this process included, from writing to the memory by anything but the mappings there are now, and gives
// a descriptor that is good for reading only.
Status freeze_writers(const MemoryFile& file, MemoryFile* for_readers);

} // namespace ipc::shared_memory
