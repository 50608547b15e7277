#include "host_library.hpp"

#include <dlfcn.h>

namespace ipc::hosting {

HostText host_text(const std::string& utf8) {
    return utf8;
}

std::string utf8_text(const char_t* text) {
    return text;
}

void* load_library(const std::filesystem::path& path, std::string* reason) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = dlerror();
        *reason = why != nullptr ? why : "no reason given";
    }
    return library;
}

void* find_function(void* library, const char* name) {
    return dlsym(library, name);
}

} // namespace ipc::hosting
