#pragma once

#include <cstdint>

namespace ipc::codecs {

// What every codec's view of a message knows before its first text; 0 in a damaged message, as far as it could not be read.
class RequestNumbers {
  public:
    uint64_t sequence() const { return sequence_; }
    uint32_t ids() const { return ids_; }
    uint32_t fields() const { return fields_; }

  protected:
    uint64_t sequence_ = 0;
    uint32_t ids_ = 0;
    uint32_t fields_ = 0;
};

class ReplyNumbers {
  public:
    uint64_t sequence() const { return sequence_; }
    uint32_t columns() const { return columns_; } // cells per row
    uint32_t cells() const { return cells_; }

  protected:
    uint64_t sequence_ = 0;
    uint32_t columns_ = 0;
    uint32_t cells_ = 0;
};

} // namespace ipc::codecs
