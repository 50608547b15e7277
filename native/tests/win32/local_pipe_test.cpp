// The named pipes under `pipe` and under the handover of shared memory: names, who may take them, who is there.
#include "support.hpp"
#include "win32/local_pipe.hpp"
#include "win32/utf.hpp"

namespace ipc::win32 {
namespace {

using ipc::test::Stopwatch;
using ipc::test::unique_name;

class LocalPipe : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(Address::parse("pipe://" + unique_name(), &address_), IPC_OK) << last_error();
        ASSERT_EQ(private_pipe_name(address_, "test-", &name_), IPC_OK) << last_error();
    }

    std::unique_ptr<LocalPipeListener> listen() {
        std::unique_ptr<LocalPipeListener> listener;
        EXPECT_EQ(LocalPipeListener::open(name_, PipeMode::byte, &listener), IPC_OK) << last_error();
        return listener;
    }
    Status connect(Handle* connection, int timeout_ms = 2000) {
        return connect_local_pipe(name_, PipeMode::byte, Deadline(timeout_ms), connection);
    }

    Address address_;
    PipeName name_;
};

TEST_F(LocalPipe, NamesHoldTheUser) {
    User self;
    ASSERT_EQ(this_user(&self), IPC_OK) << last_error();
    EXPECT_EQ(self.text().substr(0, 4), L"S-1-");
    EXPECT_EQ(name_.path, L"\\\\.\\pipe\\ipc-" + self.text() + L"-test-" + to_wide(address_.name()));
    EXPECT_EQ(name_.claim, L"\\\\.\\pipe\\ipc-" + self.text() + L"-listening-test-" + to_wide(address_.name()));
    PipeName open_to_all;
    ASSERT_EQ(public_pipe_name(address_, &open_to_all), IPC_OK) << last_error();
    EXPECT_EQ(open_to_all.path, L"\\\\.\\pipe\\" + to_wide(address_.name()));
}

TEST_F(LocalPipe, TheProcessesAreThisUsers) {
    User self;
    User other;
    ASSERT_EQ(this_user(&self), IPC_OK) << last_error();
    ASSERT_TRUE(user_of_process(GetCurrentProcessId(), &other));
    EXPECT_TRUE(self == other);
    EXPECT_FALSE(User() == User()) << "an unknown user is nobody's equal";
}

TEST_F(LocalPipe, BytesGoBothWays) {
    const auto listener = listen();
    Handle client;
    Handle server;
    ASSERT_EQ(connect(&client), IPC_OK) << last_error();
    ASSERT_EQ(listener->accept(Deadline(2000), &server), IPC_OK) << last_error();
    for (auto [from, to] : {std::pair{client.get(), server.get()}, std::pair{server.get(), client.get()}}) {
        const Handle written(CreateEventW(nullptr, TRUE, FALSE, nullptr));
        const Handle read(CreateEventW(nullptr, TRUE, FALSE, nullptr));
        OVERLAPPED writing{};
        OVERLAPPED reading{};
        writing.hEvent = written.get();
        reading.hEvent = read.get();
        char byte = 0;
        DWORD count = 0;
        WriteFile(from, "x", 1, nullptr, &writing);
        ASSERT_TRUE(GetOverlappedResult(from, &writing, &count, TRUE)) << GetLastError();
        ReadFile(to, &byte, 1, nullptr, &reading);
        ASSERT_TRUE(GetOverlappedResult(to, &reading, &count, TRUE)) << GetLastError();
        EXPECT_EQ(byte, 'x');
    }
}

TEST_F(LocalPipe, NobodyListensIsSaidAtOnce) {
    Handle client;
    const Stopwatch watch;
    EXPECT_EQ(connect(&client, 10'000), IPC_NO_SERVER) << last_error();
    EXPECT_LT(watch.ms(), 2000);
}

TEST_F(LocalPipe, ASecondListenerIsRefused) {
    const auto listener = listen();
    std::unique_ptr<LocalPipeListener> second;
    EXPECT_EQ(LocalPipeListener::open(name_, PipeMode::byte, &second), IPC_NAME_IN_USE) << last_error();
    Handle client;
    Handle server;
    ASSERT_EQ(connect(&client), IPC_OK) << "the first is disturbed: " << last_error();
    EXPECT_EQ(listener->accept(Deadline(2000), &server), IPC_OK) << last_error();
}

TEST_F(LocalPipe, ASquattedNameIsRefused) {
    for (const DWORD instances : {1, PIPE_UNLIMITED_INSTANCES}) {
        const Handle squatter(CreateNamedPipeW(name_.path.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                                               PIPE_TYPE_BYTE, instances, 0, 0, 0, nullptr));
        ASSERT_TRUE(squatter) << GetLastError();
        const Handle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
        OVERLAPPED connecting{};
        connecting.hEvent = event.get();
        ConnectNamedPipe(squatter.get(), &connecting);
        std::unique_ptr<LocalPipeListener> listener;
        EXPECT_EQ(LocalPipeListener::open(name_, PipeMode::byte, &listener), IPC_NAME_IN_USE) << last_error();
        DWORD count = 0;
        CancelIoEx(squatter.get(), &connecting);
        GetOverlappedResult(squatter.get(), &connecting, &count, TRUE);
    }
    listen();
}

TEST_F(LocalPipe, AcceptTimesOut) {
    const auto listener = listen();
    Handle server;
    const Stopwatch watch;
    EXPECT_EQ(listener->accept(Deadline(50), &server), IPC_TIMED_OUT) << last_error();
    EXPECT_GE(watch.ms(), 40);
    EXPECT_EQ(listener->accept(Deadline(0), &server), IPC_TIMED_OUT) << last_error();
}

TEST_F(LocalPipe, ClosingInterruptsEveryAccept) {
    const auto listener = listen();
    Status statuses[3] = {IPC_OK, IPC_OK, IPC_OK};
    std::thread threads[3];
    for (int i = 0; i < 3; ++i)
        threads[i] = std::thread([&, i] {
            Handle server;
            statuses[i] = listener->accept(Deadline(IPC_FOREVER), &server);
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    listener->close();
    for (int i = 0; i < 3; ++i) threads[i].join();
    for (const Status status : statuses) EXPECT_EQ(status, IPC_CLOSED);
    Handle server;
    EXPECT_EQ(listener->accept(Deadline(0), &server), IPC_CLOSED);
}

TEST_F(LocalPipe, ManyClientsAreAcceptedByManyThreads) {
    const auto listener = listen();
    constexpr int count = 20;
    Status accepted[count];
    Status connected[count];
    std::thread threads[2 * count];
    for (int i = 0; i < count; ++i) {
        threads[2 * i] = std::thread([&, i] {
            Handle server;
            accepted[i] = listener->accept(Deadline(20'000), &server);
        });
        threads[2 * i + 1] = std::thread([&, i] {
            Handle client;
            connected[i] = connect(&client, 20'000);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i) {
        EXPECT_EQ(accepted[i], IPC_OK) << i;
        EXPECT_EQ(connected[i], IPC_OK) << i;
    }
}

TEST_F(LocalPipe, AFullBacklogTimesOutAndThenGoesOn) {
    const auto listener = listen();
    Handle clients[16];
    int taken = 0;
    while (taken < 16 && connect(&clients[taken], 100) == IPC_OK) ++taken;
    ASSERT_GT(taken, 0);
    ASSERT_LT(taken, 16);
    EXPECT_EQ(connect(&clients[15], 100), IPC_TIMED_OUT) << last_error();
    Handle server;
    ASSERT_EQ(listener->accept(Deadline(2000), &server), IPC_OK) << last_error();
    EXPECT_EQ(connect(&clients[15]), IPC_OK) << last_error();
}

TEST_F(LocalPipe, ConnectionsOutliveTheirListenerAndDoNotKeepItsName) {
    auto listener = listen();
    Handle client;
    Handle server;
    ASSERT_EQ(connect(&client), IPC_OK) << last_error();
    ASSERT_EQ(listener->accept(Deadline(2000), &server), IPC_OK) << last_error();
    listener.reset();
    Handle late;
    const Stopwatch watch;
    EXPECT_EQ(connect(&late, 20'000), IPC_NO_SERVER) << last_error();
    EXPECT_LT(watch.ms(), 4000);
    listener = listen();
    ASSERT_EQ(connect(&late), IPC_OK) << last_error();
    Handle again;
    EXPECT_EQ(listener->accept(Deadline(2000), &again), IPC_OK) << last_error();
    DWORD count = 0;
    EXPECT_TRUE(WriteFile(client.get(), "x", 1, &count, nullptr)) << "the first connection ended: " << GetLastError();
}

TEST_F(LocalPipe, WhoWaitsUnacceptedFindsTheEndWhenTheListenerCloses) {
    auto listener = listen();
    Handle client;
    ASSERT_EQ(connect(&client), IPC_OK) << last_error();
    listener.reset();
    const Handle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    OVERLAPPED reading{};
    reading.hEvent = event.get();
    char byte;
    DWORD count = 0;
    ASSERT_FALSE(ReadFile(client.get(), &byte, 1, nullptr, &reading) &&
                 GetOverlappedResult(client.get(), &reading, &count, TRUE));
    EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_BROKEN_PIPE));
}

TEST_F(LocalPipe, AClientThatHasGoneIsStillRead) {
    const auto listener = listen();
    Handle client;
    ASSERT_EQ(connect(&client), IPC_OK) << last_error();
    DWORD count = 0;
    ASSERT_TRUE(WriteFile(client.get(), "bye", 3, &count, nullptr)) << GetLastError();
    client.reset();
    Handle server;
    ASSERT_EQ(listener->accept(Deadline(2000), &server), IPC_OK) << last_error();
    const Handle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    OVERLAPPED reading{};
    reading.hEvent = event.get();
    char text[8];
    ReadFile(server.get(), text, sizeof text, nullptr, &reading);
    ASSERT_TRUE(GetOverlappedResult(server.get(), &reading, &count, TRUE)) << GetLastError();
    EXPECT_EQ(std::string(text, count), "bye");
}

} // namespace
} // namespace ipc::win32
