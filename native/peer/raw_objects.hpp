#pragma once

#include "codecs/codec.hpp"
#include "data.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ipc::peer {

// Bytes as objects, for scenarios that treat them as such: "encoded" is copied. Their first 8 bytes are the sequence.
class RawObjects {
  public:
    static constexpr std::string_view id = "raw";
    using Request = std::vector<uint8_t>;
    using Reply = std::vector<uint8_t>;

    static size_t size(const Request& object) { return object.size(); }
    static void write(const Request& object, uint8_t* room) { std::memcpy(room, object.data(), object.size()); }
    static std::string decode(codecs::Bytes bytes, Request& object) {
        object.resize(bytes.size());
        if (!bytes.empty()) std::memcpy(object.data(), bytes.data(), bytes.size());
        return {};
    }
    static uint64_t sequence(const Request& object) {
        uint64_t sequence = 0;
        if (object.size() >= sizeof sequence) std::memcpy(&sequence, object.data(), sizeof sequence);
        return sequence;
    }
    static void set_sequence(Request& object, uint64_t sequence) { stamp_sequence(object, sequence); }
    static void build(const Request& from, Request& to) { to = from; }
    static bool same(const Request& object, const Request& expected) {
        constexpr size_t after_sequence = 8;
        return object.size() == expected.size() && object.size() >= after_sequence &&
               std::memcmp(object.data() + after_sequence, expected.data() + after_sequence,
                           object.size() - after_sequence) == 0;
    }
};

} // namespace ipc::peer
