#pragma once

namespace ipc::posix {

// A process forked without exec gets none of this library's descriptors: a socket or a lock that a child keeps would hide its
// parent's death from the peers. In the child each number then stands for a descriptor of nothing, so that it is not given to a
// file of the child's while a copy of our object still has it.

// From now on kept from children. Returns the descriptor; below 0 is nothing.
int keep_from_children(int descriptor);
// To be called before it is closed or given to somebody else.
void give_to_children(int descriptor);

} // namespace ipc::posix
