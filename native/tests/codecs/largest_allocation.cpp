// Replaces the allocation functions of the whole test program, in a file of its own so that no compiler sees both ends.
#include "largest_allocation.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<size_t> largest = 0;
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
    for (size_t seen = largest; size > seen && !largest.compare_exchange_weak(seen, size);) {
    }
    return std::malloc(size);
}
void* operator new(size_t size) {
    if (void* memory = operator new(size, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace ipc::codecs::testing {

size_t largest_allocation() {
    return largest;
}
void forget_allocations() {
    largest = 0;
}

} // namespace ipc::codecs::testing
