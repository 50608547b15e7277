// MS-RPC when the other process is killed: this program starts itself as that process.
#include "msrpc_support.hpp"
#include "win32/handle.hpp"

#include <chrono>
#include <cstdlib>
#include <future>

namespace ipc::test {
namespace {

using Clock = std::chrono::steady_clock;

// One of the tests below that begin with DISABLED_, in a process of its own; killed when this goes.
class Process {
  public:
    Process(const std::string& part, const std::string& address) {
        char self[MAX_PATH];
        GetModuleFileNameA(nullptr, self, sizeof self);
        std::string command = "\"" + std::string(self) +
                              "\" --gtest_also_run_disabled_tests --gtest_filter=MsRpcProcess.DISABLED_" + part;
        SetEnvironmentVariableA("IPC_TEST_ADDRESS", address.c_str());
        STARTUPINFOA startup{};
        startup.cb = sizeof startup;
        PROCESS_INFORMATION made{};
        EXPECT_TRUE(
            CreateProcessA(nullptr, command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &startup, &made));
        process_ = win32::Handle(made.hProcess);
        CloseHandle(made.hThread);
    }
    ~Process() { kill(); }
    void kill() {
        TerminateProcess(process_.get(), 1);
        WaitForSingleObject(process_.get(), 10'000);
    }

  private:
    win32::Handle process_;
};

std::string given_address() {
    const char* address = std::getenv("IPC_TEST_ADDRESS");
    return address != nullptr ? address : "";
}

TEST(MsRpcProcess, DISABLED_Server) {
    const Listener listener = listen_at(given_address());
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
    const Channel channel = connect_to(given_address());
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
    Process server("Server", address);
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
    Process next("Server", address);
    const Channel again = connect_patiently();
    ASSERT_NE(again, nullptr) << ipc_last_error();
    EXPECT_EQ(call(again, "hello"), IPC_OK) << ipc_last_error();
}

TEST_P(MsRpcDeath, AClientKilledEndsItsChannelWithinTwoSeconds) {
    const Listener listener = listen_at(address);
    Process client("Client", address);
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
