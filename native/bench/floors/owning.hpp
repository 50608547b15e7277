#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace floors {

// What a reader does to the lines of a message that it has copied out. A line that the reader has only read is slow to write for the writer, who
// uses it again; one that it has written is not (docs/experiments.md, "Whose a line is").
inline void own(char* begin, size_t length) {
    constexpr uintptr_t line = 64;
    const auto first = reinterpret_cast<uintptr_t>(begin), end = first + length;
    // Of each line the first word that the message has, in whole.
    for (uintptr_t at = first; at + sizeof(uint32_t) <= end; at = (at | (line - 1)) + 1)
        reinterpret_cast<std::atomic<uint32_t>*>(at)->store(0, std::memory_order_relaxed);
}

} // namespace floors
