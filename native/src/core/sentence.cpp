#include "core/sentence.hpp"

#include "core/status.hpp"

#include <cstdio>

namespace ipc {
namespace {

// A fixed array, so that remembering a failure can itself neither fail nor run code at the end of a thread.
constexpr size_t sentence_size = 1024;
struct Sentence {
    const char* literal; // or null: it is in `text`
    char text[sentence_size];
};
thread_local Sentence sentence;

} // namespace

void keep_sentence(const char* text) {
    std::snprintf(sentence.text, sizeof sentence.text, "%s", text);
    sentence.literal = nullptr;
}

void keep_literal(const char* text) {
    sentence.literal = text;
}

const char* last_error() {
    return sentence.literal != nullptr ? sentence.literal : sentence.text;
}

} // namespace ipc
