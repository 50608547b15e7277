#pragma once

#if defined(_WIN32)
#    include "win32/handle.hpp"
#else
#    include "posix/descriptor.hpp"
#endif

namespace ipc::shared_memory {

// What owns shared memory before and beside its mappings: a memfd, or an unnamed section.
#if defined(_WIN32)
using MemoryFile = win32::Handle;
#else
using MemoryFile = posix::Descriptor;
#endif

} // namespace ipc::shared_memory
