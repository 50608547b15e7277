// A peer killed outright: the survivor learns of it, and nothing is left behind.
#include "stream_support.hpp"
#include "win32/utf.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace ipc::win32 {
namespace {

using test::Listening;
using Clock = std::chrono::steady_clock;

constexpr const wchar_t* address_variable = L"IPC_TEST_ADDRESS";

std::string address_given() {
    wchar_t text[512];
    return to_utf8({text, GetEnvironmentVariableW(address_variable, text, 512)});
}

// Not a test: what the processes below do that are killed.
TEST(KilledPeer, DISABLED_Serves) {
    ipc_listener* listener = nullptr;
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_listen(address_given().c_str(), &listener), IPC_OK) << last_error();
    ASSERT_EQ(ipc_accept(listener, 20'000, &channel), IPC_OK) << last_error();
    Sleep(60'000);
}

TEST(KilledPeer, DISABLED_Connects) {
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_connect(address_given().c_str(), 20'000, &channel), IPC_OK) << last_error();
    Sleep(60'000);
}

// This program once more, playing one of the above.
class Child {
  public:
    Child(const std::wstring& part, const std::string& address) {
        wchar_t program[MAX_PATH];
        GetModuleFileNameW(nullptr, program, MAX_PATH);
        std::wstring line =
            L"\"" + std::wstring(program) + L"\" --gtest_also_run_disabled_tests --gtest_filter=" + part;
        SetEnvironmentVariableW(address_variable, to_wide(address).c_str());
        STARTUPINFOW start{};
        start.cb = sizeof start;
        PROCESS_INFORMATION made{};
        if (CreateProcessW(program, line.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &start, &made)) {
            process_.reset(made.hProcess);
            CloseHandle(made.hThread);
        }
    }
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    explicit operator bool() const { return static_cast<bool>(process_); }
    void kill() {
        if (!process_) return;
        TerminateProcess(process_.get(), 1);
        WaitForSingleObject(process_.get(), 10'000);
        process_.reset();
    }

  private:
    Handle process_;
};

// Where a server can listen: with tcp a port that was free a moment ago.
std::string free_address(const std::string& transport) {
    if (transport == "tcp") return Listening(transport).address();
    const size_t question = transport.find('?');
    return "pipe://" + test::unique_name() + (question == std::string::npos ? "" : transport.substr(question));
}

class KilledPeer : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Streams, KilledPeer, testing::Values("pipe", "pipe?mode=message", "tcp"), [](const auto& one) {
    const std::string text = one.param;
    return text.substr(0, text.find('?')) + (text.find('?') == std::string::npos ? "" : "_message");
});

TEST_P(KilledPeer, TheServerNoticesWhileItWaits) {
    Listening server(GetParam());
    ASSERT_TRUE(server) << last_error();
    Child child(L"KilledPeer.DISABLED_Connects", server.address());
    ASSERT_TRUE(child) << GetLastError();
    ipc_channel* channel = nullptr;
    for (int attempt = 0; attempt < 4 && channel == nullptr; ++attempt) channel = server.accept();
    ASSERT_NE(channel, nullptr) << last_error();
    char buffer[16];
    size_t length = 0;
    EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 50), IPC_TIMED_OUT) << last_error();
    const auto start = Clock::now();
    child.kill();
    EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 20'000), IPC_PEER_CLOSED) << last_error();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    ipc_channel_free(channel);
}

TEST_P(KilledPeer, TheClientNoticesInACallAndTheNameIsFree) {
    const std::string address = free_address(GetParam());
    Child child(L"KilledPeer.DISABLED_Serves", address);
    ASSERT_TRUE(child) << GetLastError();
    ipc_channel* channel = nullptr;
    const auto patience = Clock::now() + std::chrono::seconds(20);
    while (channel == nullptr && Clock::now() < patience)
        if (ipc_connect(address.c_str(), 1000, &channel) != IPC_OK) Sleep(20);
    ASSERT_NE(channel, nullptr) << last_error();
    const std::vector<char> request(1'000'000);
    char reply[16];
    size_t length = 0;
    // Nobody reads: the call is on its way out when the server dies.
    std::thread killer([&] {
        Sleep(200);
        child.kill();
    });
    const auto start = Clock::now();
    EXPECT_EQ(ipc_call(channel, request.data(), request.size(), reply, sizeof reply, &length, 20'000), IPC_PEER_CLOSED)
        << last_error();
    EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(2200));
    killer.join();
    ipc_channel_free(channel);
    channel = nullptr;
    EXPECT_EQ(ipc_connect(address.c_str(), 5000, &channel), IPC_NO_SERVER) << last_error();
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << last_error();
    ipc_listener_free(listener);
}

} // namespace
} // namespace ipc::win32
