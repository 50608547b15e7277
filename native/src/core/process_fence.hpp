#pragma once

namespace ipc {

// Makes every thread of this process pass a full memory fence before this returns: the dear half of a bargain whose other half,
// on the hot path, is a compiler's fence only. Costs microseconds.
void fence_all_threads();

} // namespace ipc
