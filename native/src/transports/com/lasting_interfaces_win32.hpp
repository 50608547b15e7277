#pragma once

namespace ipc::com {

// To be called by a server before it has its first object. Under Wine it keeps the interfaces that servers of ours are called
// through in use until the process ends; on Windows it does nothing. Any thread.
//
// Wine's runtime gives an interface up with the last object in the process that has it, and waits until no call over it is under
// way. A call that ends just then is missed: the wait never ends, and every other end of an object waits behind it (docs/windows.md,
// "Ends of COM connections").
void keep_interfaces();

} // namespace ipc::com
