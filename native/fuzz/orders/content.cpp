#include "content.hpp"

#include <cstring>
#include <vector>

namespace fuzz {
namespace {

constexpr size_t places = 64 * 1024;

std::vector<std::byte> make_table() {
    std::vector<std::byte> table(most_content + places);
    uint64_t state = 88172645463325252u;
    for (std::byte& byte : table) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state >> 24);
    }
    return table;
}

} // namespace

const std::byte* content(unsigned direction, uint32_t sequence) {
    static const std::vector<std::byte> table = make_table();
    return table.data() + (sequence * size_t{2} + direction) * 4099 % places;
}

std::string fault_text(uint32_t sequence) {
    return "fault " + std::to_string(sequence) + ".";
}

bool is_content(unsigned direction, uint32_t sequence, const void* bytes, size_t length) {
    return length == 0 || std::memcmp(content(direction, sequence), bytes, length) == 0;
}

} // namespace fuzz
