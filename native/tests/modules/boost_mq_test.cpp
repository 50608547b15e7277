// boost-mq: a peer killed at any instant, also inside Boost's queue, neither hangs the survivor nor leaves anything behind.
#include "ipc/ipc.h"

#include <chrono>
#include <dirent.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

std::string fresh_name(const char* what) {
    static int counter = 0;
    return std::string("boost-mq-test-") + what + "-" + std::to_string(getpid()) + "-" + std::to_string(++counter);
}

std::vector<std::string> left_in_shared_memory(const std::string& name) {
    std::vector<std::string> left;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/dev/shm"), closedir);
    while (const dirent* entry = folder ? readdir(folder.get()) : nullptr)
        if (std::string(entry->d_name).find("-" + name + "-") != std::string::npos) left.emplace_back(entry->d_name);
    return left;
}

// Each byte of a message tells its number: half of one and half of another cannot pass.
void fill(std::vector<unsigned char>* message, unsigned number) {
    std::fill(message->begin(), message->end(), static_cast<unsigned char>(number));
}
bool is_whole(const std::vector<unsigned char>& message, unsigned number) {
    for (const unsigned char byte : message)
        if (byte != static_cast<unsigned char>(number)) return false;
    return true;
}

[[noreturn]] void stream_for_ever(const std::string& address, size_t length, bool sends) {
    ipc_channel* channel = nullptr;
    if (ipc_connect(address.c_str(), 5000, &channel) != IPC_OK) _exit(1);
    std::vector<unsigned char> message(length);
    for (unsigned number = 0;; ++number) {
        size_t got = 0;
        fill(&message, number);
        const ipc_status status = sends ? ipc_send(channel, message.data(), length, -1)
                                        : ipc_receive(channel, message.data(), length, &got, -1);
        if (status != IPC_OK) _exit(2);
    }
}

// The child is killed in the middle of a stream, `rounds` times, after different times.
void kill_in_mid_stream(size_t length, bool child_sends, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const std::string name = fresh_name("kill");
        const std::string address = "boost-mq://" + name;
        ipc_listener* listener = nullptr;
        ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
        const pid_t child = fork();
        if (child == 0) stream_for_ever(address, length, child_sends);
        ipc_channel* channel = nullptr;
        ASSERT_EQ(ipc_accept(listener, 5000, &channel), IPC_OK) << ipc_last_error();
        std::vector<unsigned char> message(length);
        const auto start = std::chrono::steady_clock::now();
        auto killed = start;
        ipc_status status = IPC_OK;
        for (unsigned number = 0; status == IPC_OK; ++number) {
            size_t got = 0;
            if (!child_sends) fill(&message, number);
            status = child_sends ? ipc_receive(channel, message.data(), length, &got, -1)
                                 : ipc_send(channel, message.data(), length, -1);
            if (status == IPC_OK && child_sends) {
                ASSERT_TRUE(is_whole(message, number)) << "message " << number << " is not whole";
            }
            const auto now = std::chrono::steady_clock::now();
            if (killed == start && now - start > std::chrono::microseconds(1000 + 137 * round)) {
                kill(child, SIGKILL);
                killed = now;
            }
        }
        EXPECT_TRUE(status == IPC_PEER_CLOSED || status == IPC_TRUNCATED) << status << ": " << ipc_last_error();
        EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(2));
        waitpid(child, nullptr, 0);
        ipc_channel_free(channel);
        ipc_listener_free(listener);
        EXPECT_TRUE(left_in_shared_memory(name).empty());
    }
}

TEST(BoostMq, ASenderKilledInMidStream) {
    kill_in_mid_stream(60'000, true, 40);
}

TEST(BoostMq, ASenderOfLongMessagesKilledInMidStream) {
    kill_in_mid_stream(1'000'000, true, 20);
}

TEST(BoostMq, AReceiverKilledInMidStream) {
    kill_in_mid_stream(60'000, false, 40);
}

TEST(BoostMq, TheNextListenerRemovesTheQueuesOfAKilledServer) {
    const std::string name = fresh_name("sweep");
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    waitpid(gone, nullptr, 0);
    const std::string start = "/dev/shm/ipc-boost-mq-" + std::to_string(geteuid()) + "-" + name + "-";
    const std::string dead = start + std::to_string(gone) + "-0123456789abcdef-c";
    const std::string alive = start + std::to_string(getpid()) + "-0123456789abcdef-c";
    const std::string longer = start + "x-" + std::to_string(gone) + "-0123456789abcdef-c";
    for (const std::string& path : {dead, alive, longer}) std::ofstream(path) << "x";
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(("boost-mq://" + name).c_str(), &listener), IPC_OK) << ipc_last_error();
    EXPECT_NE(access(dead.c_str(), F_OK), 0);
    EXPECT_EQ(access(alive.c_str(), F_OK), 0);
    EXPECT_EQ(access(longer.c_str(), F_OK), 0) << "it belongs to another name";
    ipc_listener_free(listener);
    unlink(alive.c_str());
    unlink(longer.c_str());
}

TEST(BoostMq, NothingStandsInSharedMemoryOnceConnected) {
    const std::string name = fresh_name("names");
    const std::string address = "boost-mq://" + name + "?fragment=64&depth=2";
    ipc_listener* listener = nullptr;
    ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
    const pid_t child = fork();
    if (child == 0) {
        ipc_channel* channel = nullptr;
        char bytes[300] = {};
        size_t got = 0;
        const bool good = ipc_connect(address.c_str(), 5000, &channel) == IPC_OK &&
                          ipc_receive(channel, bytes, sizeof bytes, &got, 5000) == IPC_OK &&
                          ipc_send(channel, bytes, got, 5000) == IPC_OK;
        ipc_channel_free(channel);
        _exit(good ? 0 : 1);
    }
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_accept(listener, 5000, &channel), IPC_OK) << ipc_last_error();
    // Fragments far smaller than the message, and fewer than it needs at once.
    char bytes[300];
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<char>(i);
    char back[300] = {};
    size_t got = 0;
    EXPECT_EQ(ipc_send(channel, bytes, sizeof bytes, 5000), IPC_OK) << ipc_last_error();
    EXPECT_EQ(ipc_receive(channel, back, sizeof back, &got, 5000), IPC_OK) << ipc_last_error();
    EXPECT_EQ(std::string(back, got), std::string(bytes, sizeof bytes));
    EXPECT_TRUE(left_in_shared_memory(name).empty());
    int result = -1;
    waitpid(child, &result, 0);
    EXPECT_EQ(result, 0);
    ipc_channel_free(channel);
    ipc_listener_free(listener);
}

} // namespace
