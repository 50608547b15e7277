#include "shared_memory/rendezvous.hpp"
namespace ipc::shared_memory {
Status listen(const Form&, const Address&, FrameListener**) { return fail(IPC_NOT_AVAILABLE, "not yet"); }
Status connect(const Form&, const Address&, const Deadline&, FrameChannel**) { return fail(IPC_NOT_AVAILABLE, "not yet"); }
}
