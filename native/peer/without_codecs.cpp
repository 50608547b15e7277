// What a peer without codecs (IPC_CODECS=OFF) says of the scenarios that need them: it plays codec raw, `pipelined` apart.
#include "failure.hpp"
#include "scenarios.hpp"

namespace ipc::peer {
namespace {

[[noreturn]] void refuse(const Cell& cell) {
    throw Failure("NOT_AVAILABLE", "this native peer was built without codecs, which scenario '" + cell.scenario +
                                       "' with codec '" + cell.codec + "' needs: build with IPC_CODECS=ON");
}

} // namespace

void call_objects_client(const Cell& cell, Control&) {
    refuse(cell);
}
void call_objects_server(const Cell& cell, Control&) {
    refuse(cell);
}
void batch_client(const Cell& cell, Control&) {
    refuse(cell);
}
void batch_server(const Cell& cell, Control&) {
    refuse(cell);
}
void pipelined_client(const Cell& cell, Control&) {
    refuse(cell);
}
void serialize(const Cell& cell, Control&) {
    refuse(cell);
}

} // namespace ipc::peer
