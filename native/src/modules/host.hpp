#pragma once

#include "core/module.hpp"

namespace ipc::modules {

// The library that loaded this module; set once by the entry, before anything else of the module runs.
extern const ModuleHost* host;

} // namespace ipc::modules
