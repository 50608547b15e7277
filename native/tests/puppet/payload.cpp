#include "payload.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace puppet {
namespace {

constexpr size_t word_size = sizeof(uint64_t);

// The payload's bytes at `offset` (a multiple of 8), as the word they make in memory on a little-endian machine.
class Words {
  public:
    explicit Words(const Payload& payload) : state_(payload.seed), payload_(payload) {}

    uint64_t next() {
        uint64_t word = splitmix64(&state_);
        bool first = std::exchange(first_, false);
        return first && payload_.length >= word_size ? payload_.sequence : word;
    }

  private:
    uint64_t state_;
    Payload payload_;
    bool first_ = true;
};

} // namespace

uint64_t splitmix64(uint64_t* state) {
    *state += 0x9E3779B97F4A7C15;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

Payload payload_of_series(uint64_t seed, uint64_t index, size_t most) {
    uint64_t state = seed + index;
    return {static_cast<size_t>(splitmix64(&state) % (most + 1)), seed + index, index};
}

void fill(const Payload& payload, void* room) {
    auto* bytes = static_cast<uint8_t*>(room);
    Words words(payload);
    for (size_t at = 0; at < payload.length; at += word_size) {
        uint64_t word = words.next();
        std::memcpy(bytes + at, &word, std::min(word_size, payload.length - at));
    }
}

std::vector<uint8_t> bytes_of(const Payload& payload) {
    std::vector<uint8_t> bytes(payload.length);
    fill(payload, bytes.data());
    return bytes;
}

std::string difference(const Payload& expected, const void* bytes, size_t length) {
    if (length != expected.length)
        return "expected " + std::to_string(expected.length) + " bytes, got " + std::to_string(length);
    const auto* got = static_cast<const uint8_t*>(bytes);
    Words words(expected);
    for (size_t at = 0; at < length; at += word_size) {
        uint64_t word = words.next();
        if (std::memcmp(got + at, &word, std::min(word_size, length - at)) != 0)
            return "the content differs within the 8 bytes at offset " + std::to_string(at) + " of " +
                   std::to_string(length) + " (seed " + std::to_string(expected.seed) + ")";
    }
    return "";
}

} // namespace puppet
