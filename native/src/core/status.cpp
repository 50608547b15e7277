#include "core/status.hpp"

#include "core/error_message.hpp"

#include <cstdio>
#include <system_error>

namespace ipc {
namespace {

constexpr size_t error_message_size = 1024;

} // namespace

Status fail(Status status, const char* format, ...) {
    // The arguments may hold the previous error message: write beside it first.
    char text[error_message_size];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep_error_message(text);
    return status;
}

Status fail_plainly(Status status, const char* literal) {
    keep_literal(literal);
    return status;
}

Status fail_system(Status status, int error, const char* format, ...) {
    char text[error_message_size];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(status, "%s: %s (system error %d)", text, std::generic_category().message(error).c_str(), error);
}

} // namespace ipc
