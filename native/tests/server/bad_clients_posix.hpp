#pragma once

#include "posix/descriptor.hpp"
#include "transports/fifo/fifo_names_posix.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ipc::test {

// What a client does to a server that means no good by it.
enum class Badness { leaves, lies, says_nothing };

// Connects to a server without the library and stays as long as this object, unless it leaves at once.
class BadClient {
  public:
    // False when it does not even come so far.
    bool come(const std::string& address, Badness badness);

  private:
    bool come_by_fifo(const std::string& path, Badness badness);

    std::vector<posix::Descriptor> held_;
    std::unique_ptr<FifoPair> pair_;
};

} // namespace ipc::test
