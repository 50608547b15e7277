#pragma once

#include <cstddef>
#include <cstdlib>

namespace ipc {

// Bytes that grow without being zeroed first; they keep their content and never shrink, so that a channel allocates for
// its largest message once. Growing is by realloc, which moves large blocks by remapping pages.
class GrowingBuffer {
  public:
    GrowingBuffer() = default;
    ~GrowingBuffer() { std::free(data_); }
    GrowingBuffer(const GrowingBuffer&) = delete;
    GrowingBuffer& operator=(const GrowingBuffer&) = delete;

    std::byte* data() const { return data_; }
    size_t capacity() const { return capacity_; }

    // False if there is no memory; the buffer is then as it was.
    bool grow(size_t capacity) {
        if (capacity <= capacity_) return true;
        void* grown = std::realloc(data_, capacity);
        if (grown == nullptr) return false;
        data_ = static_cast<std::byte*>(grown);
        capacity_ = capacity;
        return true;
    }

  private:
    std::byte* data_ = nullptr;
    size_t capacity_ = 0;
};

} // namespace ipc
