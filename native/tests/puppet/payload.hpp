#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace puppet {

// A message by description: the raw payload of docs/peer-protocol.md.
struct Payload {
    size_t length;
    uint64_t seed;
    uint64_t sequence;
};

// The generator's next output; advances the state.
uint64_t splitmix64(uint64_t* state);

// Message `index` (from 1) of a series whose messages have 0 .. `most` bytes.
Payload payload_of_series(uint64_t seed, uint64_t index, size_t most);

void fill(const Payload& payload, void* room);
std::vector<uint8_t> bytes_of(const Payload& payload);

// "" if the bytes are the payload's, else an error message that names the first difference.
std::string difference(const Payload& expected, const void* bytes, size_t length);

} // namespace puppet
