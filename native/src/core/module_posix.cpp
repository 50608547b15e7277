#include "core/error_message.hpp"
#include "core/module.hpp"
#include "core/registry.hpp"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

namespace ipc {
namespace {

const ModuleHost host{module_abi, IPC_MODULE_BUILD, keep_error_message, last_error};

// The folder of the file this very code was loaded from.
std::string own_folder() {
    Dl_info about{};
    if (dladdr(&host, &about) == 0 || about.dli_fname == nullptr) return ".";
    const std::string file = about.dli_fname;
    const size_t slash = file.rfind('/');
    return slash == std::string::npos ? "." : file.substr(0, slash);
}

Status load(const TransportEntry& entry, const Transport** transport) {
    const std::string file = own_folder() + "/" + entry.module;
    // Only this path: a search could find, and run, a file of that name from anywhere.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = dlerror();
        return fail(IPC_NOT_AVAILABLE, "transport '%s' is in the module %s, which cannot be loaded (%s): %s", entry.id,
                    file.c_str(), why != nullptr ? why : "no reason given", entry.module_help);
    }
    const auto open = reinterpret_cast<ModuleEntry>(dlsym(library, module_entry_name));
    const Module* module = open != nullptr ? open(&host) : nullptr;
    if (module == nullptr || module->abi != module_abi || std::strcmp(module->build, IPC_MODULE_BUILD) != 0) {
        dlclose(library);
        return fail(IPC_NOT_AVAILABLE,
                    "transport '%s' is in the module %s, which is not of the same build as this library (%s): put the "
                    "one built with it there",
                    entry.id, file.c_str(), IPC_MODULE_BUILD);
    }
    // Never unloaded: its channels and listeners run its code.
    *transport = module->transport;
    return IPC_OK;
}

} // namespace

Status load_module(const TransportEntry& entry, const Transport** transport) {
    static std::mutex mutex;
    static std::map<std::string, const Transport*, std::less<>> loaded;
    const std::lock_guard lock(mutex);
    if (const auto found = loaded.find(entry.id); found != loaded.end()) {
        *transport = found->second;
        return IPC_OK;
    }
    if (Status s = load(entry, transport)) return s;
    loaded.emplace(entry.id, *transport);
    return IPC_OK;
}

} // namespace ipc
