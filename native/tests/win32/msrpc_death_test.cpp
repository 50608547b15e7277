// MS-RPC when the other process is killed: this program starts itself as that process.
#include "child_process.hpp"
#include "msrpc_support.hpp"

#include <chrono>
#include <future>

namespace ipc::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(MsRpcProcess, DISABLED_Server) {
    const Listener listener = listen_at(child_parameter());
    while (true) {
        const Channel channel = accept_from(listener);
        if (channel == nullptr) return;
        ipc_serve(
            channel.get(),
            [](void*, const void* request, size_t length, ipc_reply_writer* writer) -> ipc_status {
                if (length == 7 && memcmp(request, "forever", 7) == 0) Sleep(INFINITE);
                return echo(nullptr, request, length, writer);
            },
            nullptr);
    }
}

TEST(MsRpcProcess, DISABLED_Client) {
    const Channel channel = connect_to(child_parameter());
    call(channel, "hello");
    Sleep(60'000);
}

class MsRpcDeath : public testing::TestWithParam<const char*> {
  protected:
    const std::string address = unique_address(GetParam());

    Channel connect_patiently() const {
        ipc_channel* channel = nullptr;
        for (int tries = 0; tries < 1000; ++tries) {
            if (ipc_connect(address.c_str(), 10'000, &channel) == IPC_OK) break;
            Sleep(20);
        }
        return Channel(channel);
    }
};

TEST_P(MsRpcDeath, AServerKilledInACallIsNoticedWithinTwoSeconds) {
    ChildProcess server("MsRpcProcess.DISABLED_Server", address);
    const Channel client = connect_patiently();
    ASSERT_NE(client, nullptr) << ipc_last_error();
    ASSERT_EQ(call(client, "hello"), IPC_OK) << ipc_last_error();
    auto calling = std::async(std::launch::async, [&] { return call(client, "forever", nullptr, IPC_FOREVER); });
    Sleep(200);
    const auto killed = Clock::now();
    server.kill();
    EXPECT_EQ(calling.get(), IPC_PEER_CLOSED);
    EXPECT_LT(Clock::now() - killed, std::chrono::seconds(2));
    EXPECT_EQ(call(client, "again"), IPC_PEER_CLOSED);
    connect_to(address, IPC_NO_SERVER);
    // The name is free, and a process that was a client of the dead server can be one of the next.
    ChildProcess next("MsRpcProcess.DISABLED_Server", address);
    const Channel again = connect_patiently();
    ASSERT_NE(again, nullptr) << ipc_last_error();
    EXPECT_EQ(call(again, "hello"), IPC_OK) << ipc_last_error();
}

TEST_P(MsRpcDeath, AClientKilledEndsItsChannelWithinTwoSeconds) {
    const Listener listener = listen_at(address);
    ChildProcess client("MsRpcProcess.DISABLED_Client", address);
    const Channel server = accept_from(listener);
    ASSERT_NE(server, nullptr);
    const void* request;
    size_t length;
    ASSERT_EQ(ipc_receive_request(server.get(), &request, &length, 10'000), IPC_OK) << ipc_last_error();
    ASSERT_EQ(ipc_reply(server.get(), "", 0, 10'000), IPC_OK);
    const auto killed = Clock::now();
    client.kill();
    EXPECT_EQ(ipc_receive_request(server.get(), &request, &length, 10'000), IPC_PEER_CLOSED) << ipc_last_error();
    EXPECT_LT(Clock::now() - killed, std::chrono::seconds(2));
}

INSTANTIATE_TEST_SUITE_P(Sequences, MsRpcDeath, testing::Values("msrpc-alpc", "msrpc-np", "msrpc-tcp"),
                         [](const auto& instance) { return std::string(instance.param).substr(6); });

} // namespace
} // namespace ipc::test
