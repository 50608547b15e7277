#include "core/sentence.hpp"

#include "core/status.hpp"

#include <cstdio>

namespace ipc {
namespace {

// A fixed array, so that remembering a failure can itself neither fail nor run code at the end of a thread.
constexpr size_t sentence_size = 1024;
thread_local char sentence[sentence_size];

} // namespace

void keep_sentence(const char* text) {
    std::snprintf(sentence, sizeof sentence, "%s", text);
}

const char* last_error() {
    return sentence;
}

} // namespace ipc
