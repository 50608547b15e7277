#include "core/status.hpp"

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace ipc {
namespace {

// A fixed array, so that remembering a failure can itself neither fail nor run code at the end of a thread.
constexpr size_t sentence_size = 1024;
thread_local char sentence[sentence_size];

} // namespace

Status fail(Status status, const char* format, ...) {
    // The arguments may hold the previous sentence: write beside it first.
    char text[sentence_size];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::copy_n(text, sizeof text, sentence);
    return status;
}

Status fail_system(Status status, int error, const char* format, ...) {
    char text[sentence_size];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(status, "%s: %s (system error %d)", text, std::generic_category().message(error).c_str(), error);
}

const char* last_error() {
    return sentence;
}

} // namespace ipc
