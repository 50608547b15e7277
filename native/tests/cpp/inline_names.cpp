// All that the public headers define, kept even where nobody calls it: check_inline_names.cmake compares its names with the library's.
#include <ipc/awaitable.hpp>
#include <ipc/hosting.hpp>
#include <ipc/ipc.hpp>
#include <ipc/ring.hpp>
