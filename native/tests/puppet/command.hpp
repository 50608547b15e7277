#pragma once

#include "ipc/ipc.h"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

namespace puppet {

// The library refused: carries its status and the calling thread's error message.
struct Refused {
    explicit Refused(ipc_status refusal) : status(refusal), error_message(ipc_last_error()) {}
    ipc_status status;
    std::string error_message;
};

// The content was not what the command expected, or the command makes no sense.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require(ipc_status status) {
    if (status != IPC_OK) throw Refused(status);
}

inline void require_same(const std::string& difference) {
    if (!difference.empty()) throw Wrong(difference);
}

// The words of one command after its worker's name, read from left to right.
class Command {
  public:
    explicit Command(const std::string& line) : words_(line) {}

    std::string word();
    uint64_t number();
    size_t size() { return static_cast<size_t>(number()); }
    int32_t timeout();
    // `copy` (false) or `loan` (true).
    bool loan();
    // All that is left of the line.
    std::string text();

  private:
    std::istringstream words_;
};

} // namespace puppet
