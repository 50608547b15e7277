#pragma once

#include "posix/descriptor.hpp"

#include <cstddef>

namespace ipc::shared_memory {

// Messages with descriptors (SCM_RIGHTS) on the Unix socket over which two processes come to share memory.

// Sends all `bytes` with `count` (at most 2) descriptors, which the caller keeps. Never blocks. 0, or the errno: a peer that
// is gone is EPIPE or ECONNRESET.
int send_with_descriptors(int socket, const void* bytes, size_t length, const int* descriptors, size_t count);

// One message: how many bytes came (0: the peer's end; negative: -errno, which is -EMFILE when this process may not have the
// descriptors that came) and how many descriptors, which are then `descriptors[0..*count)`. More than `most` (at most 2) are
// closed and counted.
long receive_with_descriptors(int socket, void* bytes, size_t length, posix::Descriptor* descriptors, size_t most,
                              size_t* count);

} // namespace ipc::shared_memory
