/* The header under test: today's, or a frozen one when the build defines IPC_FROZEN_HEADER as its name. */
#ifdef IPC_FROZEN_HEADER
#    include IPC_FROZEN_HEADER
#else
#    include "ipc/ipc.h"
#endif
