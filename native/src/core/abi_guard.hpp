#pragma once

#include "core/address.hpp"
#include "core/out_of_line.hpp"
#include "core/registry.hpp"
#include "core/status.hpp"
#include "ipc/ipc.h"

#include <exception>
#include <new>

// What every function of the C ABI does around its work.
namespace ipc::abi {

// The status, told, of the exception that is being handled.
IPC_OUT_OF_LINE inline ipc_status caught() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return fail(IPC_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& e) {
        return fail(IPC_SYSTEM, "unexpected: %s", e.what());
    } catch (...) {
        return fail(IPC_SYSTEM, "unexpected exception");
    }
}

// No exception crosses the boundary; the library itself throws none but lack of memory and what the standard library throws.
template <class Body>
ipc_status guarded(Body body) noexcept {
    try {
        return body();
    } catch (...) {
        return caught();
    }
}

// For what has no status to return: closing and freeing, which go on as far as they come without memory.
template <class Body>
void quietly(Body body) noexcept {
    guarded([&] {
        body();
        return IPC_OK;
    });
}

// A caller's mistake, told.
IPC_OUT_OF_LINE inline ipc_status mistake(const char* function, const char* what) {
    return fail(IPC_INVALID_ARGUMENT, "%s: %s", function, what);
}

inline ipc_status check(bool good, const char* function, const char* what) {
    return good ? IPC_OK : mistake(function, what);
}

inline ipc_status check_timeout(int32_t timeout_ms, const char* function) {
    return check(timeout_ms >= IPC_FOREVER, function, "the time-out is negative; use IPC_FOREVER, 0 or milliseconds");
}

// A transport lacks what a function needs because it is of another kind.
inline ipc_status check_kind(const Address& address, bool has_it, const char* function) {
    return has_it ? IPC_OK
                  : fail(IPC_WRONG_STATE, "%s: transport '%s' is of kind '%s', which has other functions (ipc.h)",
                         function, address.transport().id, address.transport().kind);
}

} // namespace ipc::abi

#define IPC_CHECK(expression)                                                                                          \
    if (ipc_status failed = (expression)) return failed
