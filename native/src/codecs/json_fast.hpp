#pragma once

#include "codecs/json_fields.hpp"

#include <memory>

namespace ipc::codecs {

// Reads what our own writers write, and most of what others do, with simdjson. It never says what is wrong: where anything
// is unusual (a field it does not know, a number in a form it cannot tell, any damage) it gives up, and read_strictly has
// the word. So whatever it takes, read_strictly would take with the same content; a fuzzer holds the two together.
class FastJsonReader {
  public:
    FastJsonReader();
    ~FastJsonReader();
    FastJsonReader(FastJsonReader&&) noexcept;
    FastJsonReader& operator=(FastJsonReader&&) noexcept;

    // Whether all fields are filled; else their content is unspecified.
    template <class Texts>
    bool read(Bytes bytes, std::span<Field<Texts>> fields);

  private:
    struct Parser;

    std::unique_ptr<Parser> parser_;
    Buffer padded_; // the parser reads a few bytes past the end, and some bytes twice: it gets a copy of its own
};

} // namespace ipc::codecs
