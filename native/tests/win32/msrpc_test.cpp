// The three transports of MS-RPC through the C ABI, both ends in this process.
#include "msrpc_support.hpp"
#include "win32/user.hpp"

#include <future>

namespace ipc::test {
namespace {

class MsRpc : public testing::TestWithParam<const char*> {
  protected:
    const std::string address = unique_address(GetParam());
};

TEST_P(MsRpc, CallsOfEverySize) {
    Pair pair(address);
    Serving serving(pair.server);
    std::string reply;
    for (size_t length : {0, 1, 2, 3, 4, 5, 31, 32, 33, 4095, 5000, 5840, 65536, 100'001, 1'000'000}) {
        std::string request(length, '\0');
        for (size_t i = 0; i < length; ++i) request[i] = static_cast<char>(i * 7 + length);
        ASSERT_EQ(call(pair.client, request, &reply), IPC_OK) << length << ": " << ipc_last_error();
        ASSERT_TRUE(reply == request) << "the reply to " << length << " bytes differs";
    }
    ipc_channel_close(pair.client.get());
    EXPECT_EQ(serving.end(), IPC_OK);
}

TEST_P(MsRpc, FaultsCarryTheirText) {
    Pair pair(address);
    Serving serving(pair.server);
    EXPECT_EQ(call(pair.client, "fail"), IPC_HANDLER_FAILED);
    EXPECT_NE(std::string(ipc_last_error()).find("as asked"), std::string::npos) << ipc_last_error();
    EXPECT_EQ(call(pair.client, "and on"), IPC_OK) << ipc_last_error();
    ipc_channel_close(pair.client.get());
}

TEST_P(MsRpc, AMessageIsConfirmedWhenItIsReceived) {
    Pair pair(address);
    auto sending = std::async(std::launch::async, [&] { return ipc_send(pair.client.get(), "hello", 5, 10'000); });
    char buffer[16];
    size_t length = 0;
    ASSERT_EQ(ipc_receive(pair.server.get(), buffer, sizeof buffer, &length, 10'000), IPC_OK) << ipc_last_error();
    EXPECT_EQ(std::string(buffer, length), "hello");
    EXPECT_EQ(sending.get(), IPC_OK);
    EXPECT_EQ(ipc_send(pair.server.get(), "x", 1, 1000), IPC_WRONG_STATE);
    EXPECT_EQ(ipc_receive(pair.client.get(), buffer, sizeof buffer, &length, 1000), IPC_WRONG_STATE);
}

TEST_P(MsRpc, ALateReplyIsDroppedAndTheChannelStaysGood) {
    Pair pair(address);
    Serving serving(pair.server);
    EXPECT_EQ(call(pair.client, "slow", nullptr, 50), IPC_TIMED_OUT);
    std::string reply;
    EXPECT_EQ(call(pair.client, "quick", &reply), IPC_OK) << ipc_last_error();
    EXPECT_EQ(reply, "quick");
    ipc_channel_close(pair.client.get());
}

TEST_P(MsRpc, ARequestOverTheServersLimitEndsTheChannelAndNotTheServer) {
    Pair pair(address, "?max=1000");
    EXPECT_EQ(call(pair.client, std::string(1001, 'x')), IPC_PEER_CLOSED);
    EXPECT_NE(std::string(ipc_last_error()).find("max="), std::string::npos) << ipc_last_error();
    const void* request;
    size_t length;
    EXPECT_EQ(ipc_receive_request(pair.server.get(), &request, &length, 10'000), IPC_PEER_TOO_LARGE);
    const Channel next = connect_to(address);
    const Channel server = accept_from(pair.listener);
    Serving serving(server);
    EXPECT_EQ(call(next, "still here"), IPC_OK) << ipc_last_error();
    ipc_channel_close(next.get());
}

TEST_P(MsRpc, AReplyOverTheClientsLimitIsRefused) {
    Pair pair(address, "", "?max=1000");
    auto calling = std::async(std::launch::async, [&] { return call(pair.client, "x"); });
    const void* request;
    size_t length;
    ASSERT_EQ(ipc_receive_request(pair.server.get(), &request, &length, 10'000), IPC_OK);
    const std::string long_reply(1001, 'y');
    ASSERT_EQ(ipc_reply(pair.server.get(), long_reply.data(), long_reply.size(), 10'000), IPC_OK);
    EXPECT_EQ(calling.get(), IPC_PEER_TOO_LARGE);
}

TEST_P(MsRpc, NamesAreTakenOnceAndFreeAtOnce) {
    Listener first = listen_at(address);
    ipc_listener* second = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &second), IPC_NAME_IN_USE) << ipc_last_error();
    first.reset();
    connect_to(address, IPC_NO_SERVER);
    const Listener again = listen_at(address);
    const Channel client = connect_to(address);
    EXPECT_NE(accept_from(again), nullptr);
}

TEST_P(MsRpc, ChannelsOutliveTheirListener) {
    Pair pair(address);
    Serving serving(pair.server);
    ipc_listener_close(pair.listener.get());
    EXPECT_EQ(call(pair.client, "still here"), IPC_OK) << ipc_last_error();
    connect_to(address, IPC_NO_SERVER);
    ipc_channel_close(pair.client.get());
}

TEST_P(MsRpc, AClientNobodyAcceptedLearnsThatTheListenerClosed) {
    const Listener listener = listen_at(address);
    const Channel client = connect_to(address);
    auto calling = std::async(std::launch::async, [&] { return call(client, "unheard"); });
    Sleep(50);
    ipc_listener_close(listener.get());
    EXPECT_EQ(calling.get(), IPC_PEER_CLOSED) << ipc_last_error();
}

TEST_P(MsRpc, ClosingTheServerDrainsTheCallInProgress) {
    Pair pair(address);
    std::atomic<int> calls{0};
    Serving serving(pair.server, &calls);
    std::string reply;
    auto calling = std::async(std::launch::async, [&] { return call(pair.client, "slow", &reply); });
    while (calls == 0) Sleep(1);
    ipc_channel_close(pair.server.get());
    EXPECT_EQ(calling.get(), IPC_OK) << "the handler was running when the server closed, so its answer must arrive";
    EXPECT_EQ(reply, "slow");
    EXPECT_EQ(serving.end(), IPC_CLOSED);
    EXPECT_EQ(call(pair.client, "after"), IPC_PEER_CLOSED);
}

TEST_P(MsRpc, CloseInterruptsACall) {
    Pair pair(address);
    auto calling = std::async(std::launch::async, [&] { return call(pair.client, "x", nullptr, IPC_FOREVER); });
    Sleep(50);
    ipc_channel_close(pair.client.get());
    ASSERT_EQ(calling.wait_for(std::chrono::seconds(4)), std::future_status::ready)
        << "close did not interrupt the call";
    EXPECT_EQ(calling.get(), IPC_CLOSED);
}

TEST_P(MsRpc, ManyClientsAtOnce) {
    const Listener listener = listen_at(address);
    std::vector<std::future<ipc_status>> clients;
    for (int i = 0; i < 8; ++i)
        clients.push_back(std::async(std::launch::async, [&, i]() -> ipc_status {
            const Channel client = connect_to(address);
            std::string reply;
            for (int n = 0; n < 20; ++n) {
                const std::string request(static_cast<size_t>(i) * 1000 + static_cast<size_t>(n),
                                          static_cast<char>('a' + i));
                if (ipc_status s = call(client, request, &reply)) return s;
                if (reply != request) return -1;
            }
            return IPC_OK;
        }));
    std::vector<Channel> channels;
    std::vector<std::unique_ptr<Serving>> serving;
    for (int i = 0; i < 8; ++i) {
        channels.push_back(accept_from(listener));
        serving.push_back(std::make_unique<Serving>(channels.back()));
    }
    for (auto& client : clients) EXPECT_EQ(client.get(), IPC_OK);
    for (auto& one : serving) EXPECT_EQ(one->end(), IPC_OK);
}

TEST_P(MsRpc, WhatStandsAtTheNameButIsNoHandshakeSectionIsRefused) {
    const std::string name = "Local\\ipc-" + std::string(GetParam()) + "-" + address.substr(address.find("://") + 3);
    win32::OnlyThisUser owner;
    ASSERT_EQ(owner.open(), IPC_OK);
    const HANDLE section =
        CreateFileMappingA(INVALID_HANDLE_VALUE, owner.attributes(), PAGE_READWRITE, 0, 4096, name.c_str());
    ASSERT_NE(section, nullptr);
    connect_to(address, IPC_NOT_OUR_PROTOCOL);
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_NAME_IN_USE);
    CloseHandle(section);
}

INSTANTIATE_TEST_SUITE_P(Sequences, MsRpc, testing::Values("msrpc-alpc", "msrpc-np", "msrpc-tcp"),
                         [](const auto& instance) { return std::string(instance.param).substr(6); });

} // namespace
} // namespace ipc::test
