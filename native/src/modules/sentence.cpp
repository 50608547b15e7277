#include "core/sentence.hpp"

#include "core/status.hpp"
#include "modules/host.hpp"

namespace ipc {

namespace modules {
const ModuleHost* host = nullptr;
}

void keep_sentence(const char* text) {
    modules::host->keep_sentence(text);
}

void keep_literal(const char* text) {
    modules::host->keep_sentence(text);
}

const char* last_error() {
    return modules::host->last_error();
}

} // namespace ipc
