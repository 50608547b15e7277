#pragma once

#include "codecs/codec.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ipc::codecs {

// One field a reader knows, and where its value goes: exactly one of the three pointers is set.
template <class Texts>
struct Field {
    std::string_view name;
    uint64_t* number = nullptr;
    uint64_t largest = std::numeric_limits<uint64_t>::max();
    std::string* text = nullptr;
    Texts* texts = nullptr;
    bool found = false;
};

// Reads JSON by the rules of docs/wire-formats.md to the letter and says what is wrong, with nlohmann's library. Fills the
// fields; returns "" or the error message. `object` is what the text stands for, "request" say.
template <class Texts>
std::string read_strictly(Bytes bytes, std::string_view object, std::span<Field<Texts>> fields);

} // namespace ipc::codecs
