#pragma once

#include "posix/fork.hpp"

#include <unistd.h>
#include <utility>

namespace ipc::posix {

// Owns one file descriptor, which forked children do not get; -1 owns nothing.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) : descriptor_(keep_from_children(descriptor)) {}
    Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }
    int release() {
        give_to_children(descriptor_);
        return std::exchange(descriptor_, -1);
    }
    void reset(int descriptor = -1) {
        give_to_children(descriptor_);
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = keep_from_children(descriptor);
    }

  private:
    int descriptor_ = -1;
};

} // namespace ipc::posix
