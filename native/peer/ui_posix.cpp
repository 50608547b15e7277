#include "failure.hpp"
#include "scenarios.hpp"

namespace ipc::peer {

void ui_client(const Cell& cell, Control&) {
    fail_bad_cell("scenario '" + cell.scenario +
                  "' needs Windows, whose message loop it is about: see `ipc list scenarios`");
}

} // namespace ipc::peer
