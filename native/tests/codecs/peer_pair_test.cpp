// Real pairs of ipc-peer processes, led as docs/peer-protocol.md says, over every workload of the registry.
#include "peer_process.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ipc::peer::peer_pair_test {
namespace {

using nlohmann::json;
using testing::PeerProcess;

const json& registry() {
    static const json file = json::parse(std::ifstream(IPC_REGISTRY_FILE));
    return file;
}

json workload(const std::string& id) {
    for (const json& one : registry()["workloads"])
        if (one["id"] == id) return one;
    ADD_FAILURE() << "registry.json has no workload " << id;
    return {};
}

std::string unique_name() {
    static std::atomic<int> next = 0;
    return "peer-test-" + std::to_string(getpid()) + "-" + std::to_string(++next);
}

struct SamplesFile {
    std::string path = std::filesystem::temp_directory_path() / (unique_name() + ".samples");
    ~SamplesFile() { std::filesystem::remove(path); }
};

json cell(const std::string& codec, const std::string& scenario, const json& workload) {
    return {{"side", "native"}, {"codec", codec}, {"scenario", scenario},   {"workload", workload},
            {"seed", 5},        {"cpu", nullptr}, {"warmup_seconds", 0.01}, {"seconds", nullptr},
            {"count", 20},      {"samples", ""}};
}

json with(json object, const char* name, const json& value) {
    object[name] = value;
    return object;
}

// The two ends of a pair; each test says how they differ from each other.
struct Pair {
    PeerProcess server;
    PeerProcess client;

    // Up to and including what the client says once it is warm (or has failed).
    json warm_up(const json& server_cell, const json& client_cell, const std::string& transport = "unix") {
        server.send(with(with(server_cell, "role", "server"), "address", transport + "://" + unique_name()));
        const json ready = server.expect("ready");
        if (ready.value("event", "") != "ready") return ready;
        client.send(with(with(client_cell, "role", "client"), "address", ready["address"]));
        return client.expect("warm");
    }
};

void play(const std::string& transport, const json& cell) {
    SCOPED_TRACE(transport + " " + cell["codec"].get<std::string>() + " " + cell["workload"]["id"].get<std::string>());
    const SamplesFile samples;
    Pair pair;
    const json both = with(cell, "samples", samples.path);
    const json warm = pair.warm_up(both, both, transport);
    ASSERT_EQ(warm["event"], "warm") << warm;
    EXPECT_GT(warm["cold_ns"], 0);
    pair.server.send({{"command", "usage"}});
    EXPECT_GT(pair.server.expect("usage")["cpu_ns"], 0);
    pair.client.send({{"command", "go"}});
    const json measured = pair.client.expect("measured");
    ASSERT_EQ(measured["event"], "measured") << measured;
    EXPECT_EQ(measured["operations"], 20);
    EXPECT_GT(measured["usage_after"]["memory_bytes"], 0);
    EXPECT_TRUE(measured["usage_after"]["allocated_bytes"].is_null());
    EXPECT_EQ(std::filesystem::file_size(samples.path), 20 * sizeof(uint32_t));
    EXPECT_EQ(pair.client.wait(), 0);

    const json served = pair.server.expect("served");
    ASSERT_EQ(served["event"], "served") << served;
    EXPECT_GE(served["operations"].get<int>(), warm["operations"].get<int>() + 20);
    pair.server.send({{"command", "usage"}});
    EXPECT_EQ(pair.server.expect("usage")["event"], "usage");
    pair.server.end_input();
    EXPECT_EQ(pair.server.wait(), 0);
}

class PeerPairs : public ::testing::TestWithParam<std::string> {};

TEST_P(PeerPairs, PlayEveryWorkload) {
    for (const json& workload : registry()["workloads"])
        for (const std::string codec : workload["codecs"])
            for (const std::string scenario : workload["scenarios"])
                if (codec == GetParam() && (scenario == "call" || scenario == "push" || scenario == "batch" ||
                                            (scenario == "paced" && workload["rate"] >= 1000)))
                    play("unix", cell(codec, scenario, workload));
}

INSTANTIATE_TEST_SUITE_P(Codecs, PeerPairs,
                         ::testing::Values("raw", "custom", "protobuf", "protobuf-direct", "flatbuffers", "json"),
                         [](const auto& codec) {
                             return codec.param == "protobuf-direct" ? "protobuf_direct" : codec.param;
                         });

TEST(PeerPair, PlaysOverEveryTransport) {
    for (const json& transport : registry()["transports"]) {
        const std::string id = transport["id"];
        if (transport["kind"] != "channel") continue; // one-way only: peer_one_way_test.cpp
        const auto& platforms = transport["platforms"];
        if (std::find(platforms.begin(), platforms.end(), "linux") == platforms.end()) continue;
        if (id == "tcp") continue; // its name is a port; below
        // Needs a daemon, which the conformance suite and the lab start.
        if (transport.contains("module") && transport["module"].contains("daemon")) continue;
        play(id, cell("raw", "call", workload("10k-100k")));
        play(id, cell("custom", "call", workload("1k-10k")));
        play(id, cell("raw", "push", workload("push-1k")));
        play(id, cell("raw", "reconnect", workload("64")));
        play(id, cell("raw", "handler", workload("1k-10k")));
    }
}

TEST(PeerPair, LearnsThePortTheSystemChose) {
    Pair pair;
    pair.server.send(with(with(cell("raw", "call", workload("32")), "role", "server"), "address", "tcp://0"));
    const json ready = pair.server.expect("ready");
    ASSERT_EQ(ready["event"], "ready") << ready;
    EXPECT_NE(ready["address"], "tcp://0");
    pair.client.send(with(with(cell("raw", "call", workload("32")), "role", "client"), "address", ready["address"]));
    EXPECT_EQ(pair.client.expect("warm")["event"], "warm");
}

TEST(PeerPair, MeasuresForTheTimeAsked) {
    Pair pair;
    json timed = with(with(cell("raw", "call", workload("32")), "count", nullptr), "seconds", 0.1);
    ASSERT_EQ(pair.warm_up(timed, timed)["event"], "warm");
    pair.client.send({{"command", "go"}});
    const json measured = pair.client.expect("measured");
    ASSERT_EQ(measured["event"], "measured") << measured;
    EXPECT_GE(measured["elapsed_ns"], 100'000'000);
    EXPECT_EQ(measured["bytes"], measured["operations"].get<uint64_t>() * 64);
}

TEST(PeerPair, AnUnknownIdIsAFailedCallThatNamesIt) {
    Pair pair;
    json asked = workload("table");
    asked["table"]["ids"].push_back("no such row");
    const json failed = pair.warm_up(cell("custom", "call", asked), cell("custom", "call", asked));
    EXPECT_EQ(failed["status"], "HANDLER_FAILED");
    EXPECT_NE(failed["reason"].get<std::string>().find("'no such row'"), std::string::npos) << failed;
    EXPECT_EQ(pair.client.wait(), 1);
    EXPECT_EQ(pair.server.expect("failed")["status"], "HANDLER_FAILED");
    EXPECT_EQ(pair.server.wait(), 1);
}

class WrongContent : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrongContent, IsNoticedByBothEnds) {
    const auto [codec, id] = GetParam();
    Pair pair;
    const json one = cell(codec, "call", workload(id));
    EXPECT_EQ(pair.warm_up(one, with(one, "seed", 6))["status"], "WRONG_CONTENT");
    EXPECT_EQ(pair.server.expect("failed")["status"], "WRONG_CONTENT");
    EXPECT_EQ(pair.client.wait(), 1);
    EXPECT_EQ(pair.server.wait(), 1);
}

TEST(PeerPair, AHandlerNoticesWrongContentAndSaysItToBothEnds) {
    Pair pair;
    const json one = cell("raw", "handler", workload("64"));
    const json failed = pair.warm_up(one, with(one, "seed", 6));
    EXPECT_EQ(failed["status"], "HANDLER_FAILED");
    EXPECT_NE(failed["reason"].get<std::string>().find("of the request is not what was sent"), std::string::npos)
        << failed;
    EXPECT_EQ(pair.server.expect("failed")["status"], "WRONG_CONTENT");
    EXPECT_EQ(pair.client.wait(), 1);
    EXPECT_EQ(pair.server.wait(), 1);
}

INSTANTIATE_TEST_SUITE_P(Codecs, WrongContent,
                         ::testing::Values(std::pair("raw", "1k-10k"), std::pair("custom", "1k-10k"),
                                           std::pair("protobuf", "1k-10k"), std::pair("protobuf-direct", "1k-10k"),
                                           std::pair("flatbuffers", "1k-10k"), std::pair("json", "1k-10k")));

// Three messages of each kind, so that twenty exchanges come round to each several times.
TEST(PeerPair, ShuffledTakesItsMessagesInTurns) {
    for (const char* order : {"random", "memory"})
        for (const char* id : {"64", "1k-10k"}) {
            const json load = workload(id);
            const size_t bytes = load["request_bytes"].get<size_t>() + load["reply_bytes"].get<size_t>();
            play("shm", with(with(cell("raw", "shuffled", load), "order", order), "pool_bytes", 3 * (bytes + 128)));
        }
}

TEST(PeerPair, ShuffledNoticesThatTheEndsChooseFromOtherMessages) {
    const json one = with(cell("raw", "shuffled", workload("64")), "pool_bytes", 64 * 1024);
    for (const json& other :
         {with(one, "pool_bytes", 128 * 1024), with(one, "order", "memory"), with(one, "seed", 6)}) {
        Pair pair;
        EXPECT_EQ(pair.warm_up(one, other)["event"], "failed");
        EXPECT_EQ(pair.server.expect("failed")["status"], "WRONG_CONTENT") << other;
        EXPECT_EQ(pair.client.wait(), 1);
        EXPECT_EQ(pair.server.wait(), 1);
    }
}

TEST(PeerPair, AMessageOfAnotherLengthIsNoticed) {
    Pair pair;
    pair.warm_up(cell("raw", "push", workload("oneway-3k")), cell("raw", "push", workload("push-1k")));
    EXPECT_EQ(pair.server.expect("failed")["status"], "WRONG_CONTENT");
}

TEST(PeerAlone, TellsEveryPhase) {
    for (const std::string codec : {"custom", "protobuf", "protobuf-direct", "flatbuffers", "json"}) {
        SCOPED_TRACE(codec);
        PeerProcess peer;
        peer.send(with(with(cell(codec, "serialize", workload("0.1k-1k")), "role", "alone"), "seconds", 0.05));
        const json phases = peer.expect("phases");
        ASSERT_EQ(phases["event"], "phases") << phases;
        for (const std::string prefix : {"", "cold_", "linked_", "linked_cold_"})
            for (const std::string step : {"build", "translate", "encode", "decode", "traverse", "view", "copy"}) {
                const json& figure = phases[prefix + step + "_ns"];
                if (codec == "protobuf-direct" && prefix.starts_with("linked_"))
                    EXPECT_TRUE(figure.is_null());
                else if (step == "view" && codec != "custom" && codec != "flatbuffers")
                    EXPECT_TRUE(figure.is_null());
                else if (step == "translate" && codec != "protobuf")
                    EXPECT_EQ(figure, 0);
                else
                    EXPECT_GT(figure, 0) << prefix << step;
            }
        for (const char* way : {"fresh_decode_ns", "reused_decode_ns", "arena_decode_ns"}) {
            EXPECT_EQ(phases.contains(way), codec == "protobuf-direct") << way;
            EXPECT_GT(phases.value(way, 1), 0) << way;
        }
        EXPECT_GT(phases["request_bytes"], 200);
        EXPECT_GT(phases["reply_bytes"], 1000);
        EXPECT_EQ(peer.expect("measured")["operations"], 20);
        EXPECT_EQ(peer.wait(), 0);
    }
}

TEST(Peer, EndsWhenItsInputEnds) {
    PeerProcess server;
    const std::string path = "/tmp/" + unique_name() + ".socket";
    server.send(with(with(cell("raw", "call", workload("32")), "role", "server"), "address", "unix://" + path));
    ASSERT_EQ(server.expect("ready")["event"], "ready");
    server.end_input();
    EXPECT_EQ(server.expect("failed")["status"], "CLOSED");
    EXPECT_EQ(server.wait(), 1);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Peer, EndsWhenItsInputEndsBeforeGo) {
    Pair pair;
    const json one = cell("raw", "call", workload("32"));
    ASSERT_EQ(pair.warm_up(one, one)["event"], "warm");
    pair.client.end_input();
    EXPECT_EQ(pair.client.expect("failed")["status"], "CLOSED");
    EXPECT_EQ(pair.client.wait(), 1);
    // The connection ended between two exchanges, and all of them were right.
    EXPECT_EQ(pair.server.expect("served")["event"], "served");
}

TEST(Peer, SaysFirstOfAllWhatItIs) {
    PeerProcess peer;
    const json environment = peer.expect("environment");
    for (const char* field : {"runtime", "compiler", "build", "library"})
        EXPECT_TRUE(environment[field].is_string()) << environment;
}

class BadCell : public ::testing::TestWithParam<const char*> {};

TEST_P(BadCell, IsRefusedWithAnErrorMessage) {
    PeerProcess peer;
    peer.send_text(GetParam());
    const json failed = peer.expect("failed");
    EXPECT_EQ(failed["status"], "INVALID_ARGUMENT") << failed;
    EXPECT_NE(failed["reason"].get<std::string>().find(':'), std::string::npos) << "says what to do next: " << failed;
    EXPECT_EQ(peer.wait(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadCell,
    ::testing::Values(
        "", "no json", "{}",
        R"({"role":"alone","codec":"raw","scenario":"serialize","workload":{"id":"x","n":5},"seed":1,"seconds":1})",
        R"({"role":"alone","codec":"custom","scenario":"serialize","workload":{"id":"x"},"seed":1,"seconds":1})",
        R"({"role":"alone","codec":"custom","scenario":"call","workload":{"id":"x","n":5},"seed":1,"seconds":1})",
        R"({"role":"server","address":"unix://x","codec":"morse","scenario":"call",)"
        R"("workload":{"id":"x","n":5},"seed":1})",
        R"({"role":"server","address":"unix://x","codec":"raw","scenario":"shuffled",)"
        R"("workload":{"id":"x","request_bytes":64,"reply_bytes":64},"seed":1})",
        R"({"role":"server","address":"unix://x","codec":"raw","scenario":"shuffled","pool_bytes":4096,)"
        R"("workload":{"id":"x","request_bytes":4,"reply_bytes":64},"seed":1})",
        R"({"role":"server","address":"unix://x","codec":"raw","scenario":"shuffled","pool_bytes":4096,"order":"up",)"
        R"("workload":{"id":"x","request_bytes":64,"reply_bytes":64},"seed":1})",
        R"({"role":"server","address":"unix://x","codec":"raw","scenario":"dance",)"
        R"("workload":{"id":"x"},"seed":1})",
        R"({"role":"server","address":"unix://x","codec":"raw","scenario":"call",)"
        R"("workload":{"id":"x"},"seed":1,"cpu":100000})",
        R"({"role":"server","address":"unix://x","codec":"custom","scenario":"call",)"
        R"("workload":{"id":"x","text":["a","b"]},"seed":1})"));

} // namespace
} // namespace ipc::peer::peer_pair_test
