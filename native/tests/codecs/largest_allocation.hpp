#pragma once

#include <cstddef>

namespace ipc::codecs::testing {

// The most bytes one `new` of this test program has asked for since the last forget_allocations.
size_t largest_allocation();
void forget_allocations();

} // namespace ipc::codecs::testing
