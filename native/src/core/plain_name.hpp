#pragma once

#include "core/address.hpp"

namespace ipc {

// Checks that the address's name is 1 to 80 characters of A-Z a-z 0-9 . _ - and starts with none of the dots: such a
// name can be part of a path on every system without ever leaving its folder.
Status check_plain_name(const Address& address);

} // namespace ipc
