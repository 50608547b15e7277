#include "core/process_fence.hpp"

#include <atomic>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#    include <sys/single_threaded.h>
#endif

namespace ipc {
namespace {

bool membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool register_for_membarrier() {
    static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    return registered;
}

#if __has_include(<sys/single_threaded.h>)
// As soon as the library is there: in a process of one thread it costs nothing, in one of several the kernel makes the caller wait until each
// processor has been through the scheduler. That took 10 to 30 ms of the first free (docs/experiments.md, "Starting").
[[maybe_unused]] const bool registered_early = __libc_single_threaded != 0 && register_for_membarrier();
#endif

// A page that loses its rights must leave the address translations of every processor that runs a thread of ours: on x86 an
// interrupt on each of them. For systems whose filter of system calls refuses the one that is made for this.
bool change_page_rights() {
    static void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0) return false;
    *static_cast<std::atomic<int>*>(page) = 1;
    return mprotect(page, 4096, PROT_NONE) == 0;
}

} // namespace

void fence_all_threads() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (register_for_membarrier() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    if (membarrier(MEMBARRIER_CMD_GLOBAL) || change_page_rights()) return;
    usleep(1000); // far longer than any processor keeps a store to itself
}

} // namespace ipc
