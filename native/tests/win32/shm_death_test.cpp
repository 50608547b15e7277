// One of the two processes is killed: the other must learn of it at once, and the name must be free again.
#include "child_process.hpp"
#include "ipc/ipc.h"

#include <chrono>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto promised = std::chrono::seconds(2);

} // namespace

TEST(ShmChild, DISABLED_Client) {
    ipc_channel* channel = nullptr;
    ASSERT_EQ(IPC_OK, ipc_connect(child_parameter().c_str(), 10'000, &channel)) << ipc_last_error();
    ASSERT_EQ(IPC_OK, ipc_send(channel, "here", 4, 5000));
    char buffer[10];
    size_t length = 0;
    ipc_receive(channel, buffer, sizeof buffer, &length, 60'000);
}

TEST(ShmChild, DISABLED_Server) {
    ipc_listener* listener = nullptr;
    ipc_channel* channel = nullptr;
    ASSERT_EQ(IPC_OK, ipc_listen(child_parameter().c_str(), &listener)) << ipc_last_error();
    ASSERT_EQ(IPC_OK, ipc_accept(listener, 20'000, &channel)) << ipc_last_error();
    ASSERT_EQ(IPC_OK, ipc_send(channel, "here", 4, 5000));
    char buffer[10];
    size_t length = 0;
    ipc_receive(channel, buffer, sizeof buffer, &length, 60'000);
}

class ShmDeath : public testing::TestWithParam<std::string> {
  public:
    const std::string transport = GetParam().substr(0, GetParam().find('?'));
    const std::string address = unique_address(
        transport, GetParam().find('?') == std::string::npos ? "" : GetParam().substr(GetParam().find('?')));
};
INSTANTIATE_TEST_SUITE_P(Waits, ShmDeath,
                         testing::Values("shm?wait=block", "shm?wait=spin", "shm?wait=adaptive", "shm-event?wait=block",
                                         "shm-event?wait=spin"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             for (char& c : name)
                                 if (!isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

TEST_P(ShmDeath, OfTheClientIsNoticedWhileWeSleep) {
    ipc_listener* listener = nullptr;
    ASSERT_EQ(IPC_OK, ipc_listen(address.c_str(), &listener)) << ipc_last_error();
    ChildProcess client("ShmChild.DISABLED_Client", address);
    ipc_channel* channel = nullptr;
    // Accepted by a thread that ends: what it began on the pipe must not end with it.
    std::thread([&] { ASSERT_EQ(IPC_OK, ipc_accept(listener, 20'000, &channel)) << ipc_last_error(); }).join();
    char buffer[10];
    size_t length = 0;
    ASSERT_EQ(IPC_OK, ipc_receive(channel, buffer, sizeof buffer, &length, 10'000)) << ipc_last_error();
    EXPECT_EQ(IPC_TIMED_OUT, ipc_receive(channel, buffer, sizeof buffer, &length, 300)) << "the client is alive";
    ipc_status status = IPC_OK;
    Clock::time_point noticed;
    std::thread sleeper([&] {
        status = ipc_receive(channel, buffer, sizeof buffer, &length, 30'000);
        noticed = Clock::now();
    });
    Sleep(100);
    client.kill();
    const auto killed = Clock::now();
    sleeper.join();
    EXPECT_EQ(IPC_PEER_CLOSED, status);
    EXPECT_LT(noticed - killed, promised);
    ipc_channel_free(channel);
    ipc_listener_free(listener);
}

TEST_P(ShmDeath, OfTheServerIsNoticedAndItsNameIsFree) {
    ChildProcess server("ShmChild.DISABLED_Server", address);
    ipc_channel* channel = nullptr;
    ipc_status status = IPC_NO_SERVER;
    for (int tries = 0; tries < 200 && status == IPC_NO_SERVER; ++tries, Sleep(50))
        status = ipc_connect(address.c_str(), 5000, &channel);
    ASSERT_EQ(IPC_OK, status) << ipc_last_error();
    char buffer[10];
    size_t length = 0;
    ASSERT_EQ(IPC_OK, ipc_receive(channel, buffer, sizeof buffer, &length, 10'000)) << ipc_last_error();
    std::thread killer([&] {
        Sleep(100);
        server.kill();
    });
    EXPECT_EQ(IPC_PEER_CLOSED, ipc_receive(channel, buffer, sizeof buffer, &length, 30'000));
    killer.join();
    ipc_channel* none = nullptr;
    EXPECT_EQ(IPC_NO_SERVER, ipc_connect(address.c_str(), 1000, &none));
    ipc_listener* listener = nullptr;
    EXPECT_EQ(IPC_OK, ipc_listen(address.c_str(), &listener)) << ipc_last_error();
    ipc_listener_free(listener);
    ipc_channel_free(channel);
}

// Many connections come and go while others close: nobody hangs and nobody crashes.
TEST(ShmClosing, RacesWithReceivingOnBothEnds) {
    const std::string address = unique_address("shm", "?wait=block");
    ipc_listener* listener = nullptr;
    ASSERT_EQ(IPC_OK, ipc_listen(address.c_str(), &listener)) << ipc_last_error();
    for (int round = 0; round < 40; ++round) {
        ipc_channel *server = nullptr, *client = nullptr;
        std::thread accepting([&] { ASSERT_EQ(IPC_OK, ipc_accept(listener, 10'000, &server)) << ipc_last_error(); });
        ASSERT_EQ(IPC_OK, ipc_connect(address.c_str(), 10'000, &client)) << ipc_last_error();
        accepting.join();
        char here[10], there[10];
        size_t length = 0, other_length = 0;
        ipc_status ours = IPC_OK, theirs = IPC_OK;
        std::thread receiving([&] { ours = ipc_receive(server, here, sizeof here, &length, 20'000); });
        std::thread peer([&] { theirs = ipc_receive(client, there, sizeof there, &other_length, 20'000); });
        if (round % 2 == 0) Sleep(static_cast<DWORD>(round % 5));
        ipc_channel_close(round % 4 < 2 ? server : client);
        receiving.join();
        peer.join();
        EXPECT_TRUE(ours == IPC_CLOSED || ours == IPC_PEER_CLOSED) << ours;
        EXPECT_TRUE(theirs == IPC_CLOSED || theirs == IPC_PEER_CLOSED) << theirs;
        ipc_channel_free(server);
        ipc_channel_free(client);
    }
    ipc_listener_free(listener);
}
