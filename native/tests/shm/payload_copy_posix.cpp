#include "transports/shm/payload_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Memory whose end is a page that nobody may touch.
class GuardedBytes {
  public:
    explicit GuardedBytes(size_t bytes)
        : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), usable_((bytes + page_ - 1) / page_ * page_),
          begin_(mmap(nullptr, usable_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (begin_ != MAP_FAILED) guarded_ = mprotect(end(), page_, PROT_NONE) == 0;
    }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes() {
        if (begin_ != MAP_FAILED) munmap(begin_, usable_ + page_);
    }

    bool guarded() const { return guarded_; }
    std::byte* end() const { return static_cast<std::byte*>(begin_) + usable_; }

  private:
    size_t page_;
    size_t usable_;
    void* begin_;
    bool guarded_ = false;
};

// A caller's bytes may end where its memory does: no way of copying reads or writes one more, whatever the width of its moves.
TEST(PayloadCopy, TouchesNothingBehindTheBytes) {
    constexpr size_t longest = 2200;
    const GuardedBytes from(longest), to(longest);
    ASSERT_TRUE(from.guarded() && to.guarded());
    for (size_t i = 1; i <= longest; ++i) *(from.end() - i) = static_cast<std::byte>(i * 7 + i / 256 + 1);
    for (size_t length = 0; length <= longest; ++length) {
        std::memset(to.end() - longest, 0, longest);
        ipc::shm::copy_payload(to.end() - length, from.end() - length, length);
        ASSERT_EQ(std::memcmp(to.end() - length, from.end() - length, length), 0) << length << " bytes";
    }
}

} // namespace
