// ipc-floors: prints the floors of this machine as one JSON object (docs/measurement.md).
#include "floors.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    CLI::App app{"Measures the least a round trip can cost on this machine; prints JSON"};
    std::string pin = "0,1", workloads = "[]", oneway = "[]";
    std::vector<std::string> only;
    double seconds = 0.3, warmup = 0.3;
    app.add_option("--pin", pin, "CPUs of the answering and the asking process, e.g. 0,1, or none");
    app.add_option("--seconds", seconds, "how long each floor is measured")->check(CLI::Range(0.001, 60.0));
    app.add_option("--warmup", warmup, "how long each is warmed up before")->check(CLI::Range(0.0, 60.0));
    app.add_option("--workloads", workloads, R"(JSON array of {"id", "request_bytes", "reply_bytes"})");
    app.add_option("--oneway", oneway, "JSON array of sizes in bytes of one-way messages");
    app.add_option("--only", only, "these kinds of floors instead of all, e.g. cacheline,slot")
        ->delimiter(',')
        ->check(CLI::IsMember({"cacheline", "slot", "futex", "pipe", "unix", "memcpy", "clock", "oneway"}));
    CLI11_PARSE(app, argc, argv);
#if !defined(_WIN32)
    signal(SIGPIPE, SIG_IGN);
#endif
    try {
        floors::Setup setup{-1, -1, warmup, seconds};
        if (pin != "none" && std::sscanf(pin.c_str(), "%d,%d", &setup.server_cpu, &setup.client_cpu) != 2)
            throw std::invalid_argument("--pin takes two CPU numbers such as 0,1, or none; got '" + pin + "'");
        const auto asked = [&only](const char* kind) {
            return only.empty() || std::find(only.begin(), only.end(), kind) != only.end();
        };
        nlohmann::json result;
        if (asked("cacheline")) result["cacheline_rtt_ns"] = floors::cacheline_rtt_ns(setup);
        if (only.empty()) {
            result["futex_rtt_ns"] = floors::futex_rtt_ns(setup, {64, 64});
            result["pipe_rtt_ns"] = floors::pipe_rtt_ns(setup, {64, 64});
            result["unix_rtt_ns"] = floors::unix_rtt_ns(setup, {64, 64});
        }
        if (asked("memcpy")) result["memcpy_bytes_per_s"] = floors::memcpy_bytes_per_s(setup);
        if (asked("clock")) result["clock_ns"] = floors::clock_ns();
        for (const auto& workload : nlohmann::json::parse(workloads)) {
            const floors::Sizes sizes{workload.at("request_bytes").get<size_t>(),
                                      workload.at("reply_bytes").get<size_t>()};
            const auto id = workload.at("id").get<std::string>();
            if (asked("slot")) result["slot_rtt_ns"][id] = floors::slot_rtt_ns(setup, sizes);
            if (asked("futex")) result["futex_rtt_ns_by_workload"][id] = floors::futex_rtt_ns(setup, sizes);
            if (asked("pipe")) result["pipe_rtt_ns_by_workload"][id] = floors::pipe_rtt_ns(setup, sizes);
            if (asked("unix")) result["unix_rtt_ns_by_workload"][id] = floors::unix_rtt_ns(setup, sizes);
        }
        for (const auto& size : nlohmann::json::parse(oneway)) {
            const auto bytes = size.get<size_t>();
            result["oneway_ns"][std::to_string(bytes)] = {{"single", floors::oneway_ns(setup, bytes)},
                                                          {"batch", floors::oneway_batch_ns(setup, bytes)}};
        }
        std::printf("%s\n", result.dump().c_str());
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "ipc-floors: %s\n", e.what());
        return 1;
    }
}
