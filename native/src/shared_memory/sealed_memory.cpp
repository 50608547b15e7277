#include "shared_memory/sealed_memory.hpp"

namespace ipc::shared_memory {

Status too_much_to_map() {
    return fail(IPC_OUT_OF_MEMORY,
                "the peer's shared memory is more than a %zu-bit process can map: choose a smaller size= or max= there",
                sizeof(size_t) * 8);
}

} // namespace ipc::shared_memory
