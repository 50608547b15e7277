#include "runtime.hpp"

#include <cstdint>
#include <cstdio>
#include <hostfxr.h>
#include <vector>
#if defined(IPC_HAS_NETHOST)
#    include <nethost.h>
#endif

namespace ipc::hosting {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
constexpr const char* host_file = "hostfxr.dll";
#elif defined(__APPLE__)
constexpr const char* host_file = "libhostfxr.dylib";
#else
constexpr const char* host_file = "libhostfxr.so";
#endif

// What the runtime answers when it looks for a method (HRESULTs of its exceptions).
constexpr uint32_t no_such_file = 0x80070002;
constexpr uint32_t no_such_type = 0x80131522;
constexpr uint32_t no_such_method = 0x80131513;
constexpr uint32_t wrong_method = 0x80131509; // InvalidOperationException: not [UnmanagedCallersOnly]
constexpr uint32_t wrong_image = 0x8007000B;

std::string quoted(const fs::path& path) {
    return "'" + utf8_text(path.c_str()) + "'";
}

std::string hexadecimal(int code) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(code));
    return text;
}

// What hostfxr says of its failures, instead of writing it to standard error.
std::string& told() {
    thread_local std::string text;
    return text;
}

void HOSTFXR_CALLTYPE tell(const char_t* message) {
    std::string& text = told();
    if (!text.empty()) text += ' ';
    for (const char c : utf8_text(message)) text += c == '\n' || c == '\r' ? ' ' : c;
}

std::string with_what_was_told(const std::string& sentence, int code) {
    return sentence + " (" + (told().empty() ? "" : told() + ", ") + hexadecimal(code) + ")";
}

fs::path installed_host([[maybe_unused]] const fs::path& assembly) {
#if defined(IPC_HAS_NETHOST)
    std::vector<char_t> buffer(1024);
    size_t size = buffer.size();
    int code = get_hostfxr_path(buffer.data(), &size, nullptr);
    if (static_cast<uint32_t>(code) == 0x80008098) { // HostApiBufferTooSmall
        buffer.resize(size);
        code = get_hostfxr_path(buffer.data(), &size, nullptr);
    }
    if (code == 0) return fs::path(buffer.data());
    throw NotAvailable("no .NET runtime was found for '" + assembly.string() + "' (" + hexadecimal(code) +
                       "): install it, name its folder in DOTNET_ROOT, or publish the assembly self-contained");
#else
    throw NotAvailable(
        quoted(assembly) +
        " is not published self-contained, and this library was built without nethost, which finds "
        "installed runtimes: publish it so, or build the library with IPC_NETHOST naming nethost's folder");
#endif
}

} // namespace

struct Runtime::Host {
    hostfxr_set_error_writer_fn set_error_writer;
    hostfxr_initialize_for_runtime_config_fn initialize;
    hostfxr_initialize_for_dotnet_command_line_fn initialize_program;
    hostfxr_get_runtime_delegate_fn get_delegate;
    hostfxr_close_fn close;

    explicit Host(const fs::path& path) {
        std::string reason;
        void* library = load_library(path, &reason);
        if (library == nullptr) throw NotAvailable("the .NET host " + quoted(path) + " does not load: " + reason);
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_function(library, name));
            if (function == nullptr)
                throw NotAvailable("the .NET host " + quoted(path) + " has no " + name + ": install .NET 10 or newer");
        };
        find(set_error_writer, "hostfxr_set_error_writer");
        find(initialize, "hostfxr_initialize_for_runtime_config");
        find(initialize_program, "hostfxr_initialize_for_dotnet_command_line");
        find(get_delegate, "hostfxr_get_runtime_delegate");
        find(close, "hostfxr_close");
    }

    void* delegate(hostfxr_handle context, hostfxr_delegate_type type, const fs::path& assembly) const {
        void* function = nullptr;
        const int code = get_delegate(context, type, &function);
        if (code != 0 || function == nullptr)
            throw NotAvailable(with_what_was_told(".NET does not start for " + quoted(assembly), code));
        return function;
    }
};

Runtime& Runtime::instance() {
    // Never destroyed: .NET outlives main.
    static auto* const runtime = new Runtime;
    return *runtime;
}

void* Runtime::function(const fs::path& assembly, const std::string& type, const std::string& method) {
    void* function = nullptr;
    const int code = ask(assembly, type, method, &function);
    if (code == 0) return function;
    const std::string named = "'" + type + "." + method + "' of " + quoted(assembly);
    switch (static_cast<uint32_t>(code)) {
    case no_such_type:
        throw NotAvailable("there is no type '" + type + "' in " + quoted(assembly) +
                           ": give its full name, namespace first");
    case no_such_method:
        throw NotAvailable("there is no " + named + ": give the name of a static method of that type");
    case no_such_file:
        throw NotAvailable("an assembly that " + named +
                           " needs is not in its folder: build or publish it with everything it refers to");
    case wrong_image:
        throw NotAvailable(quoted(assembly) +
                           " is no .NET assembly: give the path of the .dll that `dotnet build` makes");
    case wrong_method:
        throw NotAvailable(named +
                           " cannot be called from native code: mark it [UnmanagedCallersOnly] and make it static");
    default:
        throw NotAvailable(with_what_was_told(".NET refuses " + named, code));
    }
}

bool Runtime::find(const fs::path& assembly, const std::string& type, const std::string& method, void** function) {
    const uint32_t code = static_cast<uint32_t>(ask(assembly, type, method, function));
    if (code == no_such_file || code == no_such_type) return false;
    if (code != 0) *function = this->function(assembly, type, method);
    return true;
}

int Runtime::ask(const fs::path& assembly, const std::string& type, const std::string& method, void** function) {
    std::error_code error;
    const fs::path path = fs::absolute(assembly, error).lexically_normal();
    if (error || !fs::is_regular_file(path, error))
        throw NotAvailable("the assembly " + quoted(assembly) +
                           " does not exist: give the path of the .dll that `dotnet build` makes");
    const std::string qualified =
        type.find(',') == std::string::npos ? type + ", " + utf8_text(path.stem().c_str()) : type;
    const Source from = source(path);
    const HostText host_type = host_text(qualified);
    const HostText host_method = host_text(method);
    return from.load != nullptr ? from.load(path.c_str(), host_type.c_str(), host_method.c_str(),
                                            UNMANAGEDCALLERSONLY_METHOD, nullptr, function)
                                : from.get(host_type.c_str(), host_method.c_str(), UNMANAGEDCALLERSONLY_METHOD, nullptr,
                                           nullptr, function);
}

Runtime::Source Runtime::source(const fs::path& assembly) {
    const std::lock_guard lock(mutex_);
    if (const auto found = sources_.find(assembly); found != sources_.end()) return found->second;
    return sources_.emplace(assembly, open(assembly)).first->second;
}

Runtime::Source Runtime::open(const fs::path& assembly) {
    std::error_code error;
    const fs::path own_host = assembly.parent_path() / host_file;
    const bool self_contained = fs::exists(own_host, error);
    fs::path config = assembly;
    config.replace_extension(".runtimeconfig.json");
    if (!fs::exists(config, error))
        throw NotAvailable(quoted(config) +
                           " is missing, which says what runtime the assembly needs: build the assembly with "
                           "<EnableDynamicLoading>true</EnableDynamicLoading>, or as a program");

    const Host host(self_contained ? own_host : installed_host(assembly));
    told().clear();
    const auto before = host.set_error_writer(tell);
    struct Restore {
        const Host& host;
        hostfxr_error_writer_fn writer;
        hostfxr_handle context = nullptr;
        ~Restore() {
            if (context != nullptr) host.close(context);
            host.set_error_writer(writer);
        }
    } end{host, before};

    const char_t* arguments[] = {assembly.c_str()};
    const fs::path folder = assembly.parent_path();
    const hostfxr_initialize_parameters places{sizeof(hostfxr_initialize_parameters), assembly.c_str(), folder.c_str()};
    const int code = self_contained ? host.initialize_program(1, arguments, &places, &end.context)
                                    : host.initialize(config.c_str(), nullptr, &end.context);
    if (code < 0 || code > 2 || end.context == nullptr) // 1, 2: it runs already, for another assembly
        throw NotAvailable(with_what_was_told("the runtime that " + quoted(config) + " asks for cannot be had", code));
    Source found;
    if (self_contained)
        found.get =
            reinterpret_cast<get_function_pointer_fn>(host.delegate(end.context, hdt_get_function_pointer, assembly));
    else
        found.load = reinterpret_cast<load_assembly_and_get_function_pointer_fn>(
            host.delegate(end.context, hdt_load_assembly_and_get_function_pointer, assembly));
    return found;
}

} // namespace ipc::hosting
