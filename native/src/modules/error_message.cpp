#include "core/error_message.hpp"

#include "core/status.hpp"
#include "modules/host.hpp"

namespace ipc {

namespace modules {
const ModuleHost* host = nullptr;
}

void keep_error_message(const char* text) {
    modules::host->keep_error_message(text);
}

void keep_literal(const char* text) {
    modules::host->keep_error_message(text);
}

const char* last_error() {
    return modules::host->last_error();
}

} // namespace ipc
