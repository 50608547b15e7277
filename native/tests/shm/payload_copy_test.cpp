#include "transports/shm/payload_copy.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace {

// Every length that goes by another way, at places that are aligned differently: all bytes arrive, and none beside them changes.
TEST(PayloadCopy, CopiesAllAndNothingElse) {
    constexpr size_t margin = 64, longest = 2200;
    std::vector<std::byte> from(longest + margin), to(longest + 2 * margin);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
    for (size_t length = 0; length <= longest; ++length) {
        const size_t read_at = length * 5 % 48, write_at = margin + length * 3 % 48;
        to.assign(to.size(), std::byte{0xA5});
        ipc::shm::copy_payload(to.data() + write_at, from.data() + read_at, length);
        for (size_t i = 0; i < to.size(); ++i) {
            const bool inside = i >= write_at && i < write_at + length;
            ASSERT_EQ(to[i], inside ? from[read_at + i - write_at] : std::byte{0xA5}) << length << " bytes, at " << i;
        }
    }
}

} // namespace
