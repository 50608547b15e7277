#pragma once

#include "host_library.hpp"

#include <map>
#include <mutex>
#include <stdexcept>

namespace ipc::hosting {

// What cannot be had, as an error message for the program's user.
class NotAvailable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The .NET runtime of this process, started by the first assembly that is asked for.
class Runtime {
  public:
    static Runtime& instance();

    // A static [UnmanagedCallersOnly] method. `type` may be one of another assembly: "Type, Assembly". Throws NotAvailable.
    void* function(const std::filesystem::path& assembly, const std::string& type, const std::string& method);
    // The same; false instead where the type or its assembly is missing, and everything else is in order.
    bool find(const std::filesystem::path& assembly, const std::string& type, const std::string& method,
              void** function);

  private:
    struct Host; // hostfxr's functions
    // What gives functions of one assembly: in a load context of its own, or where a self-contained program has the only one.
    struct Source {
        load_assembly_and_get_function_pointer_fn load = nullptr;
        get_function_pointer_fn get = nullptr;
    };

    Runtime() = default;
    int ask(const std::filesystem::path& assembly, const std::string& type, const std::string& method, void** function);
    Source source(const std::filesystem::path& assembly);
    Source open(const std::filesystem::path& assembly);

    std::mutex mutex_;
    std::map<std::filesystem::path, Source> sources_;
};

} // namespace ipc::hosting
