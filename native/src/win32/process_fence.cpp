#include "core/process_fence.hpp"

#include <windows.h>

namespace ipc {

void fence_all_threads() {
    FlushProcessWriteBuffers();
}

} // namespace ipc
