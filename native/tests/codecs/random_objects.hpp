#pragma once

#include "codecs/objects.hpp"

#include <random>
#include <string>

namespace ipc::codecs::testing {

// Objects of every awkward shape; the same seed gives the same objects, so a failure can be repeated.
class RandomObjects {
  public:
    explicit RandomObjects(uint32_t seed) : random_(seed) {}

    Request request(size_t most_texts) {
        return {random_() * uint64_t{0x100000001}, text(), texts(most_texts), texts(most_texts / 2)};
    }
    Reply reply(size_t most_texts) {
        return {random_() * uint64_t{0x100000001}, static_cast<uint32_t>(random_()), texts(most_texts)};
    }

  private:
    Strings texts(size_t most) {
        Strings made(up_to(most));
        for (std::string& one : made) one = text();
        return made;
    }
    // Empty, short, just around the lengths the codec treats apart (16, 32), long; ASCII and not.
    std::string text() {
        static constexpr size_t lengths[] = {0, 1, 7, 8, 15, 16, 17, 20, 31, 32, 33, 300};
        const size_t characters = lengths[up_to(std::size(lengths) - 1)];
        const bool ascii = up_to(2) > 0;
        std::string made;
        for (size_t i = 0; i < characters; ++i)
            made += ascii ? std::string(1, static_cast<char>(up_to(127))) : character();
        return made;
    }
    std::string character() {
        static const std::string some[] = {
            std::string(1, '\0'), "\n", "\"", "\\", "\x7F", "ß", "€", "語", "\xEF\xBF\xBF", "😀", "\xF4\x8F\xBF\xBF"};
        return some[up_to(std::size(some) - 1)];
    }
    size_t up_to(size_t most) { return std::uniform_int_distribution<size_t>(0, most)(random_); }

    std::mt19937 random_;
};

} // namespace ipc::codecs::testing
