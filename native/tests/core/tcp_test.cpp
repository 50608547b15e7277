#include "channels.hpp"
#include "transports/tcp/tcp_end.hpp"
#include "transports/tcp/tcp_name.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace ipc {
namespace {

Status parse(const std::string& text, TcpName* name) {
    Address address;
    if (Status status = Address::parse(text, &address); status != IPC_OK) return status;
    return parse_tcp_name(address, name);
}

TEST(TcpName, TakesHostAndPortApart) {
    TcpName name;
    ASSERT_EQ(parse("tcp://5000", &name), IPC_OK);
    EXPECT_EQ(name.host, "127.0.0.1");
    EXPECT_EQ(name.port, 5000);
    EXPECT_EQ(name.with_port(6), "6");
    ASSERT_EQ(parse("tcp://example.org:80", &name), IPC_OK);
    EXPECT_EQ(name.host, "example.org");
    EXPECT_EQ(name.with_port(6), "example.org:6");
    ASSERT_EQ(parse("tcp://[::1]:0", &name), IPC_OK);
    EXPECT_EQ(name.host, "::1");
    EXPECT_EQ(name.port, 0);
    EXPECT_EQ(name.with_port(65535), "[::1]:65535");
    for (const char* wrong : {"tcp://", "tcp://:5000", "tcp://host", "tcp://host:", "tcp://::1:5000", "tcp://[::1]5000",
                              "tcp://[]:5000", "tcp://65536", "tcp://-1", "tcp://a b:1", "tcp://[host]:1", "tcp:// 1"})
        EXPECT_EQ(parse(wrong, &name), IPC_BAD_ADDRESS) << wrong;
}

TEST(Tcp, TheListenerTellsThePortItWasGiven) {
    std::unique_ptr<FrameListener> listener;
    for (const std::string host : {"", "127.0.0.1:", "localhost:"}) {
        ASSERT_EQ(test::listen("tcp://" + host + "0?max=1M", &listener), IPC_OK) << last_error();
        const std::string address = listener->address();
        EXPECT_EQ(address.rfind("tcp://" + host, 0), 0u) << address;
        EXPECT_NE(address, "tcp://" + host + "0?max=1M");
        std::unique_ptr<FrameChannel> client;
        EXPECT_EQ(test::connect(address, &client), IPC_OK) << last_error();
    }
    std::unique_ptr<FrameChannel> client;
    EXPECT_EQ(test::connect("tcp://0", &client), IPC_BAD_ADDRESS);
}

TEST(Tcp, WorksOverVersionSix) {
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    if (test::listen("tcp://[::1]:0", &listener) != IPC_OK)
        GTEST_SKIP() << "this machine has no IPv6: " << last_error();
    ASSERT_EQ(test::connect(listener->address(), &client), IPC_OK) << last_error();
    EXPECT_EQ(test::accept(*listener, &server), IPC_OK) << last_error();
}

TEST(Tcp, TheNetworkNeedsAnyUser) {
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> client;
    EXPECT_EQ(test::listen("tcp://0.0.0.0:0", &listener), IPC_BAD_OPTION);
    EXPECT_NE(std::string(last_error()).find("users=any"), std::string::npos);
    EXPECT_EQ(test::connect("tcp://192.0.2.1:1", &client, 100), IPC_BAD_OPTION);
    ASSERT_EQ(test::listen("tcp://0.0.0.0:0?users=any", &listener), IPC_OK) << last_error();
    const std::string address = listener->address();
    const std::string port = address.substr(address.rfind(':') + 1, address.find('?') - address.rfind(':') - 1);
    EXPECT_EQ(test::connect("tcp://" + port, &client), IPC_OK) << "loopback clients still check: " << last_error();
}

TEST(Tcp, AMessageSentByAClientThatIsGoneIsStillAccepted) {
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> server;
    ASSERT_EQ(test::listen("tcp://0", &listener), IPC_OK);
    std::thread sender([&] {
        std::unique_ptr<FrameChannel> client;
        ASSERT_EQ(test::connect(listener->address(), &client), IPC_OK) << last_error();
        EXPECT_EQ(test::send(*client, test::pattern(100)), IPC_OK);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Status accepted = test::accept(*listener, &server);
    sender.join();
    ASSERT_EQ(accepted, IPC_OK) << last_error();
    std::vector<std::byte> arrived;
    EXPECT_EQ(test::receive(*server, &arrived), IPC_OK) << last_error();
    EXPECT_TRUE(arrived == test::pattern(100));
}

TEST(TcpEnd, KnowsLoopback) {
    sockaddr_storage storage{};
    auto* four = reinterpret_cast<sockaddr_in*>(&storage);
    four->sin_family = AF_INET;
    four->sin_port = htons(80);
    four->sin_addr.s_addr = htonl(0x7f123456);
    EXPECT_TRUE(TcpEnd::of(storage).is_loopback());
    EXPECT_EQ(TcpEnd::of(storage).port, 80);
    four->sin_addr.s_addr = htonl(0x0a000001);
    EXPECT_FALSE(TcpEnd::of(storage).is_loopback());
    four->sin_addr.s_addr = 0;
    EXPECT_TRUE(TcpEnd::of(storage).is_any());
    auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
    *six = {};
    six->sin6_family = AF_INET6;
    six->sin6_addr = in6addr_loopback;
    EXPECT_TRUE(TcpEnd::of(storage).is_loopback());
    six->sin6_addr = in6addr_any;
    EXPECT_TRUE(TcpEnd::of(storage).is_any());
    EXPECT_FALSE(TcpEnd::of(storage).is_loopback());
}

} // namespace
} // namespace ipc
