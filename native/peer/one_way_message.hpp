#pragma once

#include "data.hpp"

#include <array>
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
    static size_t client_of(uint64_t head) { return static_cast<size_t>(head >> client_shift); }
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
        for (size_t i = 0; i < whole_; ++i) {
            const uint64_t value = words_[i] + head;
            std::memcpy(to + i * word, &value, word);
        }
        if (tail_ != 0) {
            const uint64_t value = words_[whole_] + head;
            std::memcpy(to + whole_ * word, &value, tail_);
        }
    }
    // The word behind the head: in scenario `broadcast-last` the time of publication is there instead.
    static constexpr size_t stamp_at = sizeof(uint64_t);
    void write_stamp(uint8_t* message, int64_t now_ns) const { std::memcpy(message + stamp_at, &now_ns, word); }
    // What was there, which becomes again what the pattern says.
    int64_t take_stamp(uint8_t* message, uint64_t head) const {
        int64_t stamp;
        std::memcpy(&stamp, message + stamp_at, word);
        const uint64_t value = words_[1] + head;
        std::memcpy(message + stamp_at, &value, word);
        return stamp;
    }
    // So many messages back to back, with one head after another from `head` on.
    void write_many(uint8_t* to, size_t count, uint64_t head) const {
        if (is_half_line_) return write_half_lines(to, count, head);
        for (size_t i = 0; i < count; ++i) write(to + i * length(), head + i);
    }

    // Whether everything is as write makes it.
    bool is_right(const uint8_t* message, uint64_t head) const {
        uint64_t wrong = 0;
        for (size_t i = 0; i < whole_; ++i) wrong |= word_at(message + i * word) ^ (words_[i] + head);
        if (tail_ != 0) {
            uint64_t found = 0, expected = words_[whole_] + head;
            std::memcpy(&found, message + whole_ * word, tail_);
            expected &= (uint64_t{1} << (tail_ * 8)) - 1; // little-endian, as the whole format is
            wrong |= found ^ expected;
        }
        return wrong == 0;
    }
    // How many of the messages that lie back to back are as write_many makes them, before the first that is not.
    size_t count_right(const uint8_t* messages, const uint32_t* lengths, size_t count, uint64_t head) const {
        // Where one has another length the next ones lie elsewhere, or nowhere.
        size_t alike = 0;
        while (alike < count && lengths[alike] == length()) ++alike;
        if (is_half_line_ && are_right_half_lines(messages, alike, head)) return alike;
        size_t right = 0;
        while (right < alike && is_right(messages + right * length(), head + right)) ++right;
        return right;
    }

  private:
    static constexpr size_t word = sizeof(uint64_t);
    // 32 bytes, where every nanosecond counts: the words stay in registers from message to message, and nothing is decided
    // before the end.
    static constexpr size_t words_in_half_line = 4;
    using HalfLine = std::array<uint64_t, words_in_half_line>;

    HalfLine first_half_line(uint64_t head) const {
        HalfLine line{};
        for (size_t i = 0; i < line.size(); ++i) line[i] = words_[i] + head;
        return line;
    }
    void write_half_lines(uint8_t* to, size_t count, uint64_t head) const {
        HalfLine line = first_half_line(head);
        for (; count != 0; --count, to += sizeof line) {
            std::memcpy(to, line.data(), sizeof line);
            for (uint64_t& value : line) ++value;
        }
    }
    bool are_right_half_lines(const uint8_t* messages, size_t count, uint64_t head) const {
        HalfLine line = first_half_line(head), wrong{};
        for (; count != 0; --count, messages += sizeof line) {
            HalfLine found;
            std::memcpy(found.data(), messages, sizeof found);
            for (size_t i = 0; i < line.size(); ++i) wrong[i] |= found[i] ^ line[i]++;
        }
        return (wrong[0] | wrong[1] | wrong[2] | wrong[3]) == 0;
    }
    static uint64_t word_at(const uint8_t* from) {
        uint64_t value;
        std::memcpy(&value, from, sizeof value);
        return value;
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
