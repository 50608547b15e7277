#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

// A fuzzer's input, read as a sequence of small decisions; past its end every decision is 0.
class Input {
  public:
    Input(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}
    bool empty() const { return next_ == end_; }
    uint8_t byte() { return empty() ? uint8_t{0} : *next_++; }
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        while (bytes-- > 0) value = value << 8 | byte();
        return value;
    }

  private:
    const uint8_t* next_;
    const uint8_t* end_;
};

} // namespace fuzz
