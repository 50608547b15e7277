#pragma once

// For what stands beside the few steps that nanoseconds count for, and is not to be compiled into them.
#if defined(__GNUC__)
#    define IPC_OUT_OF_LINE [[gnu::noinline]]
// For what those few steps are made of, whoever else calls it: the compiler weighs size against calls, not against nanoseconds.
#    define IPC_IN_LINE [[gnu::always_inline]] inline
#    define IPC_LAMBDA_IN_LINE __attribute__((always_inline))
#else
#    define IPC_OUT_OF_LINE
#    define IPC_IN_LINE inline
#    define IPC_LAMBDA_IN_LINE
#endif
