// Compiled into each module: the one function it exports. IPC_MODULE_TRANSPORT is the Transport its room defines.
#include "modules/host.hpp"

#include <cstring>

namespace ipc {

extern const Transport IPC_MODULE_TRANSPORT;

} // namespace ipc

extern "C" __attribute__((visibility("default"))) const ipc::Module* ipc_module_transport(const ipc::ModuleHost* host);

extern "C" const ipc::Module* ipc_module_transport(const ipc::ModuleHost* host) {
    static const ipc::Module module{ipc::module_abi, IPC_MODULE_BUILD, &ipc::IPC_MODULE_TRANSPORT};
    if (host == nullptr || host->abi != ipc::module_abi || std::strcmp(host->build, IPC_MODULE_BUILD) != 0)
        return nullptr;
    ipc::modules::host = host;
    return &module;
}
