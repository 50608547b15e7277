#pragma once

#include "codecs/codec.hpp"

#include <string>
#include <string_view>

namespace ipc::codecs {

// Writes JSON as docs/wire-formats.md has it, byte for byte what the managed codec writes, into memory that is kept between
// texts. By hand: of RapidJSON 1.1, which systems have, the vectorised writer leaves control characters unescaped, and its
// escapes have capitals.
class JsonWriter {
  public:
    // Begins an object anew.
    void begin();
    void add(std::string_view name, uint64_t number);
    // Throws std::invalid_argument if the text is not UTF-8.
    void add(std::string_view name, const std::string& text);
    template <class Texts>
    void add_all(std::string_view name, const Texts& texts);
    void end();

    // What was written since begin, until the next one.
    std::string_view text() const { return {buffer_.get(), size_}; }

  private:
    void put_name(std::string_view name);
    void put_checked(const std::string& text);
    void put_escaped(std::string_view text);
    void put(char character) { buffer_[size_++] = character; }
    void make_room(size_t more);

    std::unique_ptr<char[]> buffer_;
    size_t capacity_ = 0;
    size_t size_ = 0;
};

} // namespace ipc::codecs
