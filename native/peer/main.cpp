// The native process of a pair. The runner says on standard input what to play; docs/peer-protocol.md is the whole
// agreement.
#include "connection.hpp"
#include "failure.hpp"
#include "process.hpp"
#include "scenarios.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

namespace ipc::peer {
namespace {

constexpr const char* help =
    "ipc-peer: the native process of a pair that `ipc run` measures.\n"
    "\n"
    "It reads one cell as a JSON object on the first line of standard input, then commands ({\"command\":\"go\"},\n"
    "{\"command\":\"usage\"}), one per line, and answers with JSON lines on standard output. It ends when standard "
    "input ends.\n"
    "docs/peer-protocol.md describes every field. By hand, `ipc serve` and `ipc drive` play one side of a pair.\n";

nlohmann::ordered_json environment() {
#if defined(__clang__)
    const std::string compiler = "clang++ " __clang_version__;
#else
    const std::string compiler = "g++ " __VERSION__;
#endif
#if defined(NDEBUG)
    constexpr const char* build = "release";
#else
    constexpr const char* build = "debug";
#endif
    const uint32_t abi = ipc_abi_version();
    return {{"event", "environment"},
            {"runtime", runtime()},
            {"compiler", compiler},
            {"build", build},
            {"library", "ipc ABI " + std::to_string(abi >> 16) + "." + std::to_string(abi & 0xFFFF)}};
}

void check_library() {
    const uint32_t abi = ipc_abi_version();
    constexpr uint32_t built_for = (IPC_ABI_VERSION_MAJOR << 16) | IPC_ABI_VERSION_MINOR;
    if (abi >> 16 != IPC_ABI_VERSION_MAJOR || abi < built_for)
        throw Failure(
            "NOT_AVAILABLE",
            "the ipc library loaded has another ABI version than this peer was built for: build both from one tree");
}

void play(const Cell& cell, Control& control) {
    const bool client = cell.role == Role::client;
    if ((cell.role == Role::alone) != (cell.scenario == "serialize"))
        fail_bad_cell("scenario '" + cell.scenario +
                      "' cannot be played in this role: serialize is played alone, the others as server or client");
    if (cell.scenario == "serialize") return serialize(cell, control);
    if (cell.scenario == "push") return client ? push_client(cell, control) : push_server(cell, control);
    if (cell.scenario == "batch") return client ? batch_client(cell, control) : batch_server(cell, control);
    if (cell.scenario == "pipelined" && client) return pipelined_client(cell, control);
    if (cell.scenario == "handler" && cell.codec == "raw")
        return client ? call_raw_client(cell, control) : handler_server(cell, control);
    if (cell.scenario == "paced") return client ? paced_client(cell, control) : call_raw_server(cell, control);
    if (cell.scenario == "startup") return client ? startup_client(cell, control) : call_raw_server(cell, control);
    if (cell.scenario == "reconnect") return client ? reconnect_client(cell, control) : reconnect_server(cell, control);
    if (cell.scenario == "shuffled") return client ? shuffled_client(cell, control) : shuffled_server(cell, control);
    if (cell.scenario == "oneway" || cell.scenario == "oneway-batch" || cell.scenario == "fanin")
        return client ? one_way_client(cell, control) : one_way_server(cell, control);
    if (cell.scenario == "broadcast" || cell.scenario == "broadcast-last")
        return client ? broadcast_client(cell, control) : broadcast_server(cell, control);
    if (cell.scenario == "ui-idle" || cell.scenario == "ui-busy" || cell.scenario == "ui-blocked")
        return client ? ui_client(cell, control) : call_raw_server(cell, control);
    if (cell.scenario != "call" && cell.scenario != "pipelined")
        fail_bad_cell("the native peer has no scenario '" + cell.scenario + "': see `ipc list scenarios`");
    if (cell.codec == "raw") return client ? call_raw_client(cell, control) : call_raw_server(cell, control);
    return client ? call_objects_client(cell, control) : call_objects_server(cell, control);
}

int run() {
    Control control;
    const auto fail = [&control](std::string_view status, const char* reason) {
        control.emit({{"event", "failed"}, {"status", status}, {"reason", reason}});
        return 1;
    };
    control.emit(environment());
    try {
        check_library();
        const Cell cell = parse_cell(control.read_first_line());
        if (cell.cpu) pin(*cell.cpu);
        control.start();
        play(cell, control);
        return 0;
    } catch (const Failure& failure) {
        return fail(failure.status(), failure.what());
    } catch (const Error& error) {
        // Only the end of standard input closes a handle that is in use here.
        if (error.status() == IPC_CLOSED) return fail("CLOSED", Control::ended_too_early);
        return fail(status_name(error.status()), error.what());
    } catch (const std::bad_alloc&) {
        return fail("OUT_OF_MEMORY", "the memory for this workload cannot be had: choose a smaller one");
    } catch (const std::exception& error) {
        return fail("SYSTEM", error.what());
    }
}

} // namespace
} // namespace ipc::peer

int main(int count, char** arguments) {
    ipc::peer::outlive_the_runner();
    if (count > 1) {
        const bool asked = std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0;
        std::fputs(ipc::peer::help, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    return ipc::peer::run();
}
