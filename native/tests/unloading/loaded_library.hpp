#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#if defined(_WIN32)
#    include <windows.h>
#else
#    include <dlfcn.h>
#endif

// A shared library from its loading to its unloading.
class LoadedLibrary {
  public:
    explicit LoadedLibrary(const char* file) {
#if defined(_WIN32)
        library_ = LoadLibraryA(file);
#else
        library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
#endif
        if (library_ == nullptr) {
            ADD_FAILURE() << file << " cannot be loaded";
            std::abort();
        }
    }
    ~LoadedLibrary() {
#if defined(_WIN32)
        FreeLibrary(library_);
#else
        dlclose(library_);
#endif
    }
    LoadedLibrary(const LoadedLibrary&) = delete;
    LoadedLibrary& operator=(const LoadedLibrary&) = delete;

    // Its function of this name and type.
    template <class Function>
    Function* get(const char* name) const {
#if defined(_WIN32)
        const auto found = reinterpret_cast<void (*)()>(GetProcAddress(library_, name));
#else
        const auto found = reinterpret_cast<void (*)()>(dlsym(library_, name));
#endif
        if (found == nullptr) {
            ADD_FAILURE() << "there is no " << name;
            std::abort();
        }
        return reinterpret_cast<Function*>(found);
    }

  private:
#if defined(_WIN32)
    HMODULE library_;
#else
    void* library_;
#endif
};
