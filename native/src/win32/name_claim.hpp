#pragma once

#include "core/address.hpp"
#include "win32/handle.hpp"

namespace ipc::win32 {

// The exclusive right of one process to listen under a name, where the system itself lets several have it: a named mutex, which
// goes with its process.
class NameClaim {
  public:
    // IPC_NAME_IN_USE when somebody has it.
    Status take(const Address& address);
    void release() { claim_.reset(); }

  private:
    Handle claim_;
};

} // namespace ipc::win32
