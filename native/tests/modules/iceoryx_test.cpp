// iceoryx: without its daemon it says so at once, instead of what iceoryx itself would do: wait a minute and end the process.
#include "ipc/ipc.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

bool daemon_runs() {
    const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "/tmp/roudi");
    const bool runs = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(probe);
    return runs;
}

TEST(Iceoryx, WithoutItsDaemonItIsNotAvailableAndSaysHowToStartIt) {
    if (daemon_runs()) GTEST_SKIP() << "RouDi runs on this machine";
    const std::string address = "iceoryx://iceoryx-test-" + std::to_string(getpid());
    const auto start = std::chrono::steady_clock::now();
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_NOT_AVAILABLE);
    EXPECT_NE(std::string(ipc_last_error()).find("iox-roudi"), std::string::npos) << ipc_last_error();
    ipc_channel* channel = nullptr;
    EXPECT_EQ(ipc_connect(address.c_str(), IPC_FOREVER, &channel), IPC_NOT_AVAILABLE);
    EXPECT_NE(std::string(ipc_last_error()).find("iox-roudi"), std::string::npos) << ipc_last_error();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Iceoryx, OptionsItCannotHaveAreRefusedBeforeAnythingElse) {
    const std::string address = "iceoryx://iceoryx-test-" + std::to_string(getpid());
    ipc_listener* listener = nullptr;
    for (const char* option : {"fragment=63", "fragment=5M", "depth=3", "depth=6", "depth=1000"})
        EXPECT_EQ(ipc_listen((address + "?" + option).c_str(), &listener), IPC_BAD_OPTION) << ipc_last_error();
}

} // namespace
