// result.hpp - a part of ipc.hpp, which includes it: how functions report failures, and bytes in place.
#ifndef IPC_RESULT_HPP
#define IPC_RESULT_HPP

// Visual C++ takes C++14 unless told otherwise, and says in its own macro what it takes.
#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#    error "ipc.hpp needs C++17: compile with -std=c++17 or /std:c++17, or later"
#endif

#include "ipc/ipc.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#if defined(__has_include)
#    if __has_include(<version>)
#        include <version>
#    endif
#endif
#if defined(__cpp_lib_span)
#    include <span>
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#    define IPC_HAS_EXCEPTIONS 1
#else
#    define IPC_HAS_EXCEPTIONS 0
#endif

namespace ipc {

inline constexpr int32_t infinite = IPC_FOREVER;

// A failed call: the status for programs, what() for people.
class Error : public std::runtime_error {
  public:
    // With the calling thread's latest error message.
    explicit Error(ipc_status status) : Error(status, text(status)) {}
    Error(ipc_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
    ipc_status status() const noexcept { return status_; }

  private:
    static std::string text(ipc_status status) {
        std::string_view detail = ipc_last_error();
        return detail.empty() ? ipc_status_text(status) : std::string(detail);
    }
    ipc_status status_;
};

namespace detail {
inline void throw_unless_ok(ipc_status status) {
    if (status == IPC_OK) return;
#if IPC_HAS_EXCEPTIONS
    throw Error(status);
#else
    std::fprintf(stderr, "ipc: %s\n", Error(status).what());
    std::abort();
#endif
}
#if IPC_HAS_EXCEPTIONS
inline void check_timeout(int32_t timeout_ms) {
    if (timeout_ms >= infinite) return;
    throw Error(IPC_INVALID_ARGUMENT,
                "the time-out " + std::to_string(timeout_ms) + " is none: give milliseconds, or IPC_FOREVER");
}
#endif
} // namespace detail

// Throws an Error unless the status is IPC_OK. A program built without exceptions should use the functions that begin with try_ instead:
// there, check prints the error message and aborts. In parentheses because other libraries have macros of this name; a program that uses
// one of them writes (ipc::check)(status).
inline void(check)(ipc_status status) {
    detail::throw_unless_ok(status);
}

// What functions that begin with try_ return: a status and, if it is IPC_OK, a value. They never throw; ipc_last_error() has the error
// message until the thread's next failure. Their time-out defaults to 0: what cannot be done at once returns IPC_TIMED_OUT.
template <class Value>
class [[nodiscard]] Result {
  public:
    Result(Value value) noexcept : value_(std::move(value)) {}
    // The value is meaningful if the status is IPC_OK, or IPC_BUFFER_TOO_SMALL: then it is the length required, unless the function that
    // returns it says otherwise.
    Result(ipc_status status, Value value) noexcept : status_(status), value_(std::move(value)) {}

    explicit operator bool() const noexcept { return status_ == IPC_OK; }
    ipc_status status() const noexcept { return status_; }
    // The one failure after which simply trying again may succeed.
    bool timed_out() const noexcept { return status_ == IPC_TIMED_OUT; }

    Value& operator*() & noexcept { return value_; }
    const Value& operator*() const& noexcept { return value_; }
    Value&& operator*() && noexcept { return std::move(value_); }
    Value* operator->() noexcept { return &value_; }
    const Value* operator->() const noexcept { return &value_; }

  private:
    ipc_status status_ = IPC_OK;
    Value value_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    explicit Result(ipc_status status) noexcept : status_(status) {}
    explicit operator bool() const noexcept { return status_ == IPC_OK; }
    ipc_status status() const noexcept { return status_; }
    bool timed_out() const noexcept { return status_ == IPC_TIMED_OUT; }

  private:
    ipc_status status_;
};

// The value of a result; a failure is thrown, as by check().
template <class Value>
Value value_of(Result<Value> result) {
    detail::throw_unless_ok(result.status());
    return *std::move(result);
}
inline void value_of(Result<void> result) {
    detail::throw_unless_ok(result.status());
}

// Bytes in place; how long they stay valid is said by the function that returns them.
struct Bytes {
    const std::byte* data = nullptr;
    size_t size = 0;
    std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data), size}; }
#if defined(__cpp_lib_span)
    operator std::span<const std::byte>() const noexcept {
        return {data, size};
    }
#endif
};

} // namespace ipc

#endif
