#pragma once

#include "data.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace ipc::peer {

// The first 8 bytes of a one-way message, docs/peer-protocol.md "One-way messages".
struct MessageHead {
    static constexpr uint64_t end_mark = uint64_t{1} << 63; // ends a stretch; carries the sequence that would be next
    static constexpr int client_shift = 56;

    static uint64_t first_of(uint32_t client) { return (uint64_t{client} << client_shift) + 1; }
    // Of an end mark: 128 and more, which no client has.
    static uint64_t client_of(uint64_t head) { return head >> client_shift; }
};

// What one-way messages of a cell say: every word is a function of the head, so that no byte of another message passes
// for one of this. Written and compared in words of 8 bytes, because at some nanoseconds a message nothing else is cheap
// enough.
class MessagePattern {
  public:
    MessagePattern(uint64_t seed, size_t length)
        : words_((length + word - 1) / word), whole_(length / word), tail_(length % word),
          is_half_line_(length == words_in_half_line * word) {
        Generator generator(seed);
        for (uint64_t& output : words_) output = generator.next();
        words_[0] = 0; // so that the head itself follows the same rule as every other word
    }

    size_t length() const { return whole_ * word + tail_; }

    void write(uint8_t* __restrict to, uint64_t head) const {
        if (is_half_line_) return write_words(to, head, words_in_half_line); // a count that the compiler knows
        write_words(to, head, whole_);
        if (tail_ != 0) {
            const uint64_t value = words_[whole_] + head;
            std::memcpy(to + whole_ * word, &value, tail_);
        }
    }

    // Whether everything is as write makes it.
    bool is_right(const uint8_t* message, uint64_t head) const {
        if (is_half_line_) return difference(message, head, words_in_half_line) == 0;
        uint64_t wrong = difference(message, head, whole_);
        if (tail_ != 0) {
            uint64_t found = 0, expected = words_[whole_] + head;
            std::memcpy(&found, message + whole_ * word, tail_);
            expected &= (uint64_t{1} << (tail_ * 8)) - 1; // little-endian, as the whole format is
            wrong |= found ^ expected;
        }
        return wrong == 0;
    }

  private:
    static constexpr size_t word = sizeof(uint64_t);
    static constexpr size_t words_in_half_line = 4; // 32 bytes, where every nanosecond counts

    void write_words(uint8_t* __restrict to, uint64_t head, size_t count) const {
        const uint64_t* const words = words_.data();
        for (size_t i = 0; i < count; ++i) {
            const uint64_t value = words[i] + head;
            std::memcpy(to + i * word, &value, word);
        }
    }

    uint64_t difference(const uint8_t* message, uint64_t head, size_t count) const {
        const uint64_t* const words = words_.data();
        uint64_t wrong = 0;
        for (size_t i = 0; i < count; ++i) {
            uint64_t value;
            std::memcpy(&value, message + i * word, word);
            wrong |= value ^ (words[i] + head);
        }
        return wrong;
    }

    std::vector<uint64_t> words_;
    size_t whole_;
    size_t tail_; // bytes behind the whole words
    bool is_half_line_;
};

inline uint64_t head_of(const uint8_t* message) {
    uint64_t head;
    std::memcpy(&head, message, sizeof head);
    return head;
}

} // namespace ipc::peer
