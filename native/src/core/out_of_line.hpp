#pragma once

// For what stands beside the few steps that nanoseconds count for, and is not to be compiled into them.
#if defined(__GNUC__)
#    define IPC_OUT_OF_LINE [[gnu::noinline]]
#else
#    define IPC_OUT_OF_LINE
#endif
