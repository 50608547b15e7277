// Client: connects when it has to, never repeats a call, and can be closed from anywhere.
#include "../server/support.hpp"

namespace ipc::test {
namespace {

void echo(Bytes request, ReplyWriter& reply) {
    reply.write(request.data, request.size);
}

class Clients : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Clients, testing::ValuesIn(channel_transports), transport_name);

TEST_P(Clients, ConnectAtTheFirstCall) {
    const Server server(fresh_address(GetParam()), echo);
    Client client(server.address());
    EXPECT_FALSE(client.connected());
    EXPECT_EQ(client.call("hello", patience_ms), "hello");
    EXPECT_TRUE(client.connected());
    char reply[8];
    EXPECT_EQ(client.call("hi", 2, reply, sizeof reply, patience_ms), 2u);
    EXPECT_EQ(status_of([&] { client.call("longer", 6, reply, 2, patience_ms); }), IPC_BUFFER_TOO_SMALL);
    EXPECT_EQ(client.call(std::string(100'000, 'x'), patience_ms).size(), 100'000u);
    EXPECT_TRUE(client.connected());
}

TEST_P(Clients, ConnectAnewToAServerThatCameBack) {
    auto server = std::make_unique<Server>(fresh_address(GetParam()), echo);
    const std::string address = server->address();
    Client client(address);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(client.call("hello", patience_ms), "hello") << "server " << i;
        server.reset();
        server = std::make_unique<Server>(address, echo);
    }
}

TEST_P(Clients, NeverRepeatACall) {
    const std::string address = fresh_address(GetParam());
    Listener listener(address);
    Client client(listener.address());
    std::thread calling([&] {
        const ipc_status status = status_of([&] { client.call("pay", patience_ms); });
        EXPECT_TRUE(status == IPC_PEER_CLOSED || status == IPC_TRUNCATED) << ipc_status_text(status);
    });
    int requests = 0;
    {
        Channel first = listener.accept(patience_ms);
        const void* request = nullptr;
        size_t size = 0;
        ASSERT_EQ(ipc_receive_request(first.handle(), &request, &size, patience_ms), IPC_OK);
        ++requests;
    }
    calling.join();
    std::thread serving([&] {
        Channel second = listener.accept(patience_ms);
        second.serve([&](Bytes request, ReplyWriter& reply) {
            ++requests;
            reply.write(request.text());
        });
    });
    EXPECT_EQ(client.call("next", patience_ms), "next");
    client.close();
    serving.join();
    EXPECT_EQ(requests, 2);
}

TEST_P(Clients, AreClosedUnderACallAndUnderThoseThatWait) {
    std::atomic<bool> called{false};
    std::atomic<bool> leave{false};
    const Server server(fresh_address(GetParam()), [&](Bytes, ReplyWriter&) {
        called = true;
        while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    Client client(server.address());
    std::vector<std::thread> callers;
    std::atomic<int> closed{0};
    for (int i = 0; i < 3; ++i)
        callers.emplace_back([&] { closed += status_of([&] { client.call("?", patience_ms); }) == IPC_CLOSED; });
    EXPECT_TRUE(becomes_true([&] { return called.load(); }));
    client.close();
    for (std::thread& caller : callers) caller.join();
    leave = true;
    EXPECT_EQ(closed, 3);
    EXPECT_EQ(status_of([&] { client.call("?", 0); }), IPC_CLOSED);
}

TEST_P(Clients, ATimeOutCoversTheTurnTheConnectionAndTheCall) {
    std::atomic<bool> leave{false};
    const Server server(fresh_address(GetParam()), [&](Bytes, ReplyWriter&) {
        while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    Client client(server.address());
    std::thread first([&] { EXPECT_EQ(status_of([&] { client.call("?", 300); }), IPC_TIMED_OUT); });
    EXPECT_TRUE(becomes_true([&] { return client.connected(); }));
    EXPECT_EQ(status_of([&] { client.call("?", 20); }), IPC_TIMED_OUT);
    first.join();
    leave = true;
    EXPECT_NO_THROW(client.call("?", patience_ms));
}

TEST(Client, WaitsForAServerThatIsNotThereYet) {
    const std::string address = fresh_address("shm");
    Client client(address);
    EXPECT_EQ(status_of([&] { client.call("?", 60); }), IPC_TIMED_OUT);
    std::thread calling([&] { EXPECT_EQ(client.call("late", patience_ms), "late"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Server server(address, echo);
    calling.join();
}

TEST(Client, ThatIsNotToReconnectSaysSo) {
    ClientOptions options;
    options.reconnect = false;
    const std::string address = fresh_address("shm");
    Client client(address, options);
    EXPECT_EQ(status_of([&] { client.call("?", patience_ms); }), IPC_NO_SERVER);
    {
        const Server server(address, echo);
        EXPECT_EQ(client.call("x", patience_ms), "x");
    }
    EXPECT_EQ(status_of([&] { client.call("?", patience_ms); }), IPC_PEER_CLOSED);
    const Server again(address, echo);
    try {
        client.call("?", patience_ms);
        FAIL() << "it connected anew";
    } catch (const Error& e) {
        EXPECT_EQ(e.status(), IPC_PEER_CLOSED);
        EXPECT_NE(std::string(e.what()).find("asked not to reconnect"), std::string::npos) << e.what();
    }
}

TEST(Client, IsClosedWhileItWaitsForAServer) {
    Client client(fresh_address("shm"));
    std::thread waiting([&] { EXPECT_EQ(status_of([&] { client.connect(); }), IPC_CLOSED); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    client.close();
    waiting.join();
}

TEST(Client, RefusesWhatMakesNoSense) {
    EXPECT_EQ(status_of([] { Client("shm://x").call("?", -2); }), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(status_of([] { Client("no address").call("?"); }), IPC_BAD_ADDRESS);
    ClientOptions options;
    options.longest_pause = std::chrono::milliseconds(1);
    EXPECT_EQ(status_of([&] { const Client client("shm://x", options); }), IPC_INVALID_ARGUMENT);
}

} // namespace
} // namespace ipc::test
