// One-way scenarios with real ipc-peer processes, led as docs/peer-protocol.md says.
#include "peer_process.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace ipc::peer::peer_one_way_test {
namespace {

using nlohmann::json;
using testing::PeerProcess;

std::string unique_name() {
    static std::atomic<int> next = 0;
    return "one-way-test-" + std::to_string(getpid()) + "-" + std::to_string(++next);
}

json cell(const std::string& scenario, int bytes, int clients) {
    return {{"side", "native"},
            {"codec", "raw"},
            {"scenario", scenario},
            {"workload", {{"id", "test"}, {"request_bytes", bytes}, {"reply_bytes", 0}}},
            {"seed", 5},
            {"cpu", nullptr},
            {"warmup_seconds", 0.01},
            {"seconds", nullptr},
            {"count", 2500},
            {"samples", ""},
            {"clients", clients},
            {"portion", 100},
            {"batch", 64}};
}

json with(json object, const char* name, const json& value) {
    object[name] = value;
    return object;
}

struct Peers {
    PeerProcess server;
    std::vector<std::unique_ptr<PeerProcess>> clients;

    // False if the server did not get ready.
    bool start(const json& server_cell, const json& client_cell, const std::string& transport, int count) {
        server.send(with(with(server_cell, "role", "server"), "address", transport + "://" + unique_name()));
        const json ready = server.expect("ready");
        EXPECT_EQ(ready["event"], "ready") << ready;
        if (ready["event"] != "ready") return false;
        for (int i = 0; i < count; ++i) {
            clients.push_back(std::make_unique<PeerProcess>());
            clients.back()->send(
                with(with(with(client_cell, "role", "client"), "address", ready["address"]), "client", i));
        }
        return true;
    }
};

void play(const std::string& transport, const std::string& scenario, int bytes) {
    SCOPED_TRACE(transport + " " + scenario + " " + std::to_string(bytes));
    const int clients = scenario == "fanin" ? 4 : 1;
    const std::string samples = std::filesystem::temp_directory_path() / (unique_name() + ".samples");
    const json one = cell(scenario, bytes, clients);
    Peers peers;
    ASSERT_TRUE(peers.start(with(one, "samples", samples), one, transport, clients));
    uint64_t warm = 0, sent = 0;
    for (auto& client : peers.clients) {
        const json event = client->expect("warm");
        ASSERT_EQ(event["event"], "warm") << event;
        EXPECT_GT(event["cold_ns"], 0);
        warm += event["operations"].get<uint64_t>();
    }
    const json warmed = peers.server.expect("received");
    ASSERT_EQ(warmed["event"], "received") << warmed;
    EXPECT_EQ(warmed["operations"], warm);
    for (auto& client : peers.clients) client->send({{"command", "go"}});
    for (auto& client : peers.clients) {
        const json event = client->expect("measured");
        ASSERT_EQ(event["event"], "measured") << event;
        EXPECT_GT(event["usage_after"]["memory_bytes"], 0);
        sent += event["operations"].get<uint64_t>();
    }
    EXPECT_EQ(sent, 2500u * static_cast<unsigned>(clients));
    const json received = peers.server.expect("received");
    ASSERT_EQ(received["event"], "received") << received;
    EXPECT_EQ(received["operations"], sent);
    EXPECT_EQ(received["bytes"], sent * static_cast<unsigned>(bytes));
    EXPECT_EQ(received["lost"], 0);
    EXPECT_GT(received["elapsed_ns"], 0);
    EXPECT_GT(received["usage_after"]["cpu_ns"], 0);
    EXPECT_GE(std::filesystem::file_size(samples), 20 * sizeof(uint32_t));
    std::filesystem::remove(samples);
    EXPECT_EQ(peers.server.expect("served")["operations"], warm + sent);
    for (auto& client : peers.clients) EXPECT_EQ(client->wait(), 0);
    peers.server.end_input();
    EXPECT_EQ(peers.server.wait(), 0);
}

class OneWayPeers : public ::testing::TestWithParam<std::tuple<std::string, std::string, int>> {};

TEST_P(OneWayPeers, CountAndMeasureWhatArrives) {
    std::apply(play, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Channels, OneWayPeers,
                         ::testing::Combine(::testing::Values("unix", "pipe", "shm"),
                                            ::testing::Values("oneway", "oneway-batch", "fanin"),
                                            ::testing::Values(32, 100, 3000)));

TEST(OneWayPeer, PlaysOverEveryQueue) {
    const json registry = json::parse(std::ifstream(IPC_REGISTRY_FILE));
    for (const json& transport : registry["transports"])
        if (transport["kind"] == "queue")
            for (const std::string scenario : {"oneway", "fanin"})
                for (const int bytes : {32, 3000}) play(transport["id"], scenario, bytes);
}

TEST(OneWayPeer, AnotherSeedIsNoticed) {
    for (const std::string scenario : {"oneway", "oneway-batch", "fanin"}) {
        SCOPED_TRACE(scenario);
        const int clients = scenario == "fanin" ? 2 : 1;
        Peers peers;
        const json one = cell(scenario, 32, clients);
        ASSERT_TRUE(peers.start(one, with(one, "seed", 6), "unix", clients));
        EXPECT_EQ(peers.server.expect("received")["status"], "WRONG_CONTENT");
        EXPECT_EQ(peers.server.wait(), 1);
    }
}

TEST(OneWayPeer, AnotherLengthIsNoticed) {
    for (const int bytes : {31, 33}) {
        Peers peers;
        ASSERT_TRUE(peers.start(cell("oneway", 32, 1), cell("oneway", bytes, 1), "shm", 1));
        EXPECT_EQ(peers.server.expect("received")["status"], "WRONG_CONTENT");
    }
}

TEST(OneWayPeer, EndsWhenItsInputEnds) {
    Peers peers;
    const json one = with(with(cell("fanin", 32, 2), "count", nullptr), "seconds", 60);
    ASSERT_TRUE(peers.start(one, one, "shm", 2));
    for (auto& client : peers.clients) ASSERT_EQ(client->expect("warm")["event"], "warm");
    for (auto& client : peers.clients) client->send({{"command", "go"}});
    ASSERT_EQ(peers.server.expect("received")["event"], "received");
    peers.server.end_input();
    EXPECT_EQ(peers.server.expect("served")["status"], "CLOSED");
    EXPECT_EQ(peers.server.wait(), 1);
    for (auto& client : peers.clients) EXPECT_EQ(client->wait(), 1) << "its server is gone";
}

TEST(OneWayPeer, RefusesAClientThatCannotBe) {
    PeerProcess peer;
    peer.send(with(with(with(cell("fanin", 32, 4), "role", "client"), "address", "unix://x"), "client", 4));
    EXPECT_EQ(peer.expect("warm")["status"], "INVALID_ARGUMENT");
}

} // namespace
} // namespace ipc::peer::peer_one_way_test
