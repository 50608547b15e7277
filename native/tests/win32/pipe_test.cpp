// `pipe` as Windows has it: what stands in the system, messages of the pipe, and who else may speak to it.
#include "core/frame_header.hpp"
#include "stream_support.hpp"
#include "win32/utf.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace ipc::win32 {
namespace {

using test::Listening;

// A client as other programs are: the pipe's name and nothing of this library.
class PlainClient {
  public:
    explicit PlainClient(const std::string& name, DWORD read_mode = PIPE_READMODE_BYTE)
        : pipe_(CreateFileW((L"\\\\.\\pipe\\" + to_wide(name)).c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                            OPEN_EXISTING, 0, nullptr)) {
        if (pipe_) SetNamedPipeHandleState(pipe_.get(), &read_mode, nullptr, nullptr);
    }
    explicit operator bool() const { return static_cast<bool>(pipe_); }

    bool write(const void* data, size_t length) {
        DWORD count = 0;
        return WriteFile(pipe_.get(), data, static_cast<DWORD>(length), &count, nullptr) && count == length;
    }
    // What one read gives, at most `capacity` bytes; *more: the message goes on.
    std::vector<std::byte> read(size_t capacity, bool* more = nullptr) {
        std::vector<std::byte> bytes(capacity);
        DWORD count = 0;
        const BOOL whole = ReadFile(pipe_.get(), bytes.data(), static_cast<DWORD>(capacity), &count, nullptr);
        if (more != nullptr) *more = !whole && GetLastError() == ERROR_MORE_DATA;
        bytes.resize(count);
        return bytes;
    }
    bool write_frame(FrameKind kind, uint32_t id, const std::string& payload) {
        std::vector<std::byte> bytes(frame_header_size + payload.size());
        write_frame_header(bytes.data(), kind, id, payload.size());
        std::memcpy(bytes.data() + frame_header_size, payload.data(), payload.size());
        return write(bytes.data(), bytes.size());
    }

  private:
    Handle pipe_;
};

TEST(Pipe, APlainClientCalls) {
    Listening server("pipe");
    ASSERT_TRUE(server) << last_error();
    PlainClient client(server.name());
    ASSERT_TRUE(client) << GetLastError();
    ipc_channel* channel = server.accept();
    ASSERT_NE(channel, nullptr) << last_error();
    ASSERT_TRUE(client.write_frame(FrameKind::request, 7, "ping"));
    const void* request = nullptr;
    size_t length = 0;
    ASSERT_EQ(ipc_receive_request(channel, &request, &length, 5000), IPC_OK) << last_error();
    EXPECT_EQ(std::string(static_cast<const char*>(request), length), "ping");
    ASSERT_EQ(ipc_reply(channel, "pong", 4, 5000), IPC_OK) << last_error();
    const auto reply = client.read(100);
    ASSERT_EQ(reply.size(), frame_header_size + 4);
    FrameInfo info{};
    ASSERT_TRUE(read_frame_header(reply.data(), &info));
    EXPECT_EQ(info.kind, FrameKind::reply);
    EXPECT_EQ(info.id, 7u);
    EXPECT_EQ(std::memcmp(reply.data() + frame_header_size, "pong", 4), 0);
    ipc_channel_free(channel);
}

TEST(Pipe, WhatAStrangerSendsIsRefusedAndTheListenerServesOn) {
    Listening server("pipe");
    ASSERT_TRUE(server) << last_error();
    char buffer[64];
    size_t length = 0;
    {
        PlainClient garbage(server.name());
        ipc_channel* channel = server.accept();
        ASSERT_NE(channel, nullptr) << last_error();
        ASSERT_TRUE(garbage.write("GET / HTTP/1.1\r\n\r\n", 18));
        EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 5000), IPC_NOT_OUR_PROTOCOL) << last_error();
        ipc_channel_free(channel);
    }
    {
        PlainClient liar(server.name());
        ipc_channel* channel = server.accept();
        ASSERT_NE(channel, nullptr) << last_error();
        std::byte header[frame_header_size];
        write_frame_header(header, FrameKind::message, 0, 0xfffffff0u);
        ASSERT_TRUE(liar.write(header, sizeof header));
        EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 5000), IPC_PEER_TOO_LARGE) << last_error();
        ipc_channel_free(channel);
    }
    {
        ipc_channel* channel = nullptr;
        {
            PlainClient leaver(server.name());
            channel = server.accept();
            ASSERT_NE(channel, nullptr) << last_error();
            std::byte header[frame_header_size];
            write_frame_header(header, FrameKind::message, 0, 50);
            ASSERT_TRUE(leaver.write(header, sizeof header));
        }
        EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 5000), IPC_TRUNCATED) << last_error();
        ipc_channel_free(channel);
    }
    PlainClient honest(server.name());
    ipc_channel* channel = server.accept();
    ASSERT_NE(channel, nullptr) << last_error();
    ASSERT_TRUE(honest.write_frame(FrameKind::message, 0, "hello"));
    EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 5000), IPC_OK) << last_error();
    EXPECT_EQ(length, 5u);
    ipc_channel_free(channel);
}

TEST(Pipe, AWriteOfNothingIsNotTheEnd) {
    for (const char* transport : {"pipe", "pipe?mode=message"}) {
        Listening server(transport);
        ASSERT_TRUE(server) << last_error();
        PlainClient client(server.name());
        ipc_channel* channel = server.accept();
        ASSERT_NE(channel, nullptr) << last_error();
        char buffer[64];
        size_t length = 0;
        client.write("", 0);
        ASSERT_TRUE(client.write_frame(FrameKind::message, 0, "after"));
        EXPECT_EQ(ipc_receive(channel, buffer, sizeof buffer, &length, 5000), IPC_OK) << last_error();
        EXPECT_EQ(std::string(buffer, length), "after");
        ipc_channel_free(channel);
    }
}

TEST(Pipe, InMessageModeEachFrameIsOneMessage) {
    Listening server("pipe?mode=message");
    ASSERT_TRUE(server) << last_error();
    PlainClient client(server.name(), PIPE_READMODE_MESSAGE);
    ipc_channel* channel = server.accept();
    ASSERT_NE(channel, nullptr) << last_error();
    const std::vector<char> large(30'000, 'l');
    ASSERT_EQ(ipc_send(channel, "one", 3, 5000), IPC_OK) << last_error();
    ASSERT_EQ(ipc_send(channel, large.data(), large.size(), 5000), IPC_OK) << last_error();
    ASSERT_EQ(ipc_send(channel, "", 0, 5000), IPC_OK) << last_error();
    bool more = false;
    EXPECT_EQ(client.read(40'000, &more).size(), frame_header_size + 3);
    EXPECT_FALSE(more);
    EXPECT_EQ(client.read(10'000, &more).size(), 10'000u);
    EXPECT_TRUE(more) << "the large frame was split into messages";
    EXPECT_EQ(client.read(40'000, &more).size(), frame_header_size + large.size() - 10'000);
    EXPECT_FALSE(more);
    EXPECT_EQ(client.read(40'000, &more).size(), frame_header_size);
    ipc_channel_free(channel);
}

TEST(Pipe, InMessageModeMessagesOfEverySizeArrive) {
    Listening server("pipe?mode=message");
    ASSERT_TRUE(server) << last_error();
    for (const size_t length : {size_t{0}, size_t{1}, size_t{4080}, size_t{4081}, size_t{70'000}, size_t{3'000'000}}) {
        ipc_channel* client = nullptr;
        ASSERT_EQ(ipc_connect(server.address().c_str(), 5000, &client), IPC_OK) << last_error();
        ipc_channel* channel = server.accept();
        ASSERT_NE(channel, nullptr) << last_error();
        std::vector<char> sent(length);
        for (size_t i = 0; i < length; ++i) sent[i] = static_cast<char>(i * 31 + i / 251);
        std::thread sender(
            [&] { EXPECT_EQ(ipc_send(client, sent.data(), sent.size(), 20'000), IPC_OK) << last_error(); });
        std::vector<char> arrived(length + 1);
        size_t count = 0;
        EXPECT_EQ(ipc_receive(channel, arrived.data(), arrived.size(), &count, 20'000), IPC_OK) << last_error();
        sender.join();
        arrived.resize(count);
        EXPECT_TRUE(arrived == sent) << length;
        ipc_channel_free(client);
        ipc_channel_free(channel);
    }
}

TEST(Pipe, AMessageClientIsRefusedByAByteServer) {
    Listening server("pipe");
    ASSERT_TRUE(server) << last_error();
    ipc_channel* client = nullptr;
    EXPECT_EQ(ipc_connect((server.address() + "?mode=message").c_str(), 5000, &client), IPC_NOT_OUR_PROTOCOL);
    EXPECT_NE(std::string(last_error()).find("mode=byte"), std::string::npos) << last_error();
    EXPECT_EQ(client, nullptr);
}

TEST(Pipe, WhatIsOverTheLimitIsNotSent) {
    Listening server("pipe?max=1k");
    ASSERT_TRUE(server) << last_error();
    ipc_channel* client = nullptr;
    ASSERT_EQ(ipc_connect((server.address()).c_str(), 5000, &client), IPC_OK) << last_error();
    const std::vector<char> large(2000);
    EXPECT_EQ(ipc_send(client, large.data(), large.size(), 5000), IPC_MESSAGE_TOO_LARGE);
    EXPECT_EQ(ipc_send(client, large.data(), 1000, 5000), IPC_OK) << last_error();
    ipc_channel_free(client);
}

} // namespace
} // namespace ipc::win32
