#include "core/error_message.hpp"

#include "core/status.hpp"

#include <cstdio>

namespace ipc {
namespace {

// A fixed array, so that remembering a failure can itself neither fail nor run code at the end of a thread.
constexpr size_t error_message_size = 1024;
struct ErrorMessage {
    const char* literal; // or null: it is in `text`
    char text[error_message_size];
};
thread_local ErrorMessage error_message;

} // namespace

void keep_error_message(const char* text) {
    std::snprintf(error_message.text, sizeof error_message.text, "%s", text);
    error_message.literal = nullptr;
}

void keep_literal(const char* text) {
    error_message.literal = text;
}

const char* last_error() {
    return error_message.literal != nullptr ? error_message.literal : error_message.text;
}

} // namespace ipc
