#pragma once

#include "ipc/ipc.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ipc::peer {

// Ends the peer with a `failed` event: a status for the runner, an error message for people. Failed calls of the library are
// thrown as ipc::Error (ipc.hpp) and end it the same way.
class Failure : public std::runtime_error {
  public:
    Failure(std::string_view status, const std::string& reason) : std::runtime_error(reason), status_(status) {}
    const std::string& status() const { return status_; }

  private:
    std::string status_;
};

// The status as the runner knows it, for example "TIMED_OUT".
std::string_view status_name(ipc_status status);

[[noreturn]] void fail_wrong_content(const std::string& reason);
[[noreturn]] void fail_bad_cell(const std::string& reason);

// Exchange `sequence` carried another number than its place says.
[[noreturn]] void fail_wrong_sequence(std::string_view what, uint64_t found, uint64_t expected);

} // namespace ipc::peer
