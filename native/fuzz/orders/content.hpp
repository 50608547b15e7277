#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fuzz {

// No message of the fuzzers is longer.
inline constexpr size_t most_content = 600 * 1024;

// The bytes of one message: they differ from sequence to sequence and from direction to direction, and never change.
const std::byte* content(unsigned direction, uint32_t sequence);
// The text of one fault.
std::string fault_text(uint32_t sequence);
bool is_content(unsigned direction, uint32_t sequence, const void* bytes, size_t length);

} // namespace fuzz
