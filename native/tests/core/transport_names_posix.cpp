// What transports owe their users when names stand in the file system and processes are killed.
#include "support.hpp"
#include "transport_fixture.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

namespace ipc {
namespace {

// Those with a name in the file system: all but tcp.
class NamedTransport : public test::StreamTransport {
  protected:
    // Where the listener's name stands in the file system.
    static std::string path_of(const std::string& address) {
        const size_t separator = address.find("://");
        const std::string transport = address.substr(0, separator);
        const std::string name = address.substr(separator + 3);
        if (transport != "pipe") return test::private_folder() + "/" + transport + "-" + name;
        const char* temporary = std::getenv("TMPDIR");
        return (temporary != nullptr ? std::string(temporary) : "/tmp") + "/CoreFxPipe_" + name;
    }
};

INSTANTIATE_TEST_SUITE_P(All, NamedTransport, testing::Values("pipe", "unix", "fifo"),
                         [](const auto& instance) { return std::string(instance.param); });

class KilledClient : public test::StreamTransport {};

INSTANTIATE_TEST_SUITE_P(All, KilledClient, testing::ValuesIn(test::stream_transports()),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(NamedTransport, TheNameGoesWithTheListenerAndNotEarlier) {
    connect_pair();
    EXPECT_TRUE(test::exists(path_of(listener_->address())));
    listener_->close();
    EXPECT_FALSE(test::exists(path_of(listener_->address())));
}

// A process that listens at an address, if asked accepts one client, and is then killed.
std::unique_ptr<test::Child> serving_child(const std::string& address, bool accepts) {
    return std::make_unique<test::Child>([&] {
        auto* listener = new std::unique_ptr<FrameListener>;
        auto* channel = new std::unique_ptr<FrameChannel>;
        if (test::listen(address, listener) != IPC_OK) return false;
        if (accepts) std::thread([=] { test::accept(**listener, channel, test::forever); }).detach();
        return true;
    });
}

TEST_P(NamedTransport, ClientRemovesTheNameOfADeadServer) {
    const std::string address = fresh_address();
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    child->end();
    ASSERT_TRUE(test::exists(path_of(address)));
    EXPECT_EQ(test::connect(address, &client_), IPC_NO_SERVER);
    EXPECT_FALSE(test::exists(path_of(address)));
}

TEST_P(NamedTransport, ListenerTakesOverTheNameOfADeadServer) {
    const std::string address = fresh_address();
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    child->end();
    ASSERT_TRUE(test::exists(path_of(address)));
    EXPECT_EQ(test::listen(address, &listener_), IPC_OK) << last_error();
    listener_->close();
    EXPECT_FALSE(test::exists(path_of(address)));
}

TEST_P(NamedTransport, ClientThatLosesItsServerRemovesItsName) {
    for (int round = 0; round < 10; ++round) {
        const std::string address = fresh_address();
        const auto child = serving_child(address, true);
        ASSERT_TRUE(child->ready());
        ASSERT_EQ(test::connect(address, &client_), IPC_OK) << last_error();
        Status status = IPC_OK;
        std::thread receiver([&] {
            FrameInfo info{};
            status = client_->next(&info, Deadline(test::forever));
        });
        child->end();
        receiver.join();
        EXPECT_EQ(status, IPC_PEER_CLOSED);
        EXPECT_FALSE(test::exists(path_of(address)));
    }
}

class FifoNames : public NamedTransport {};

INSTANTIATE_TEST_SUITE_P(All, FifoNames, testing::Values("fifo"),
                         [](const auto& instance) { return std::string(instance.param); });

// Its process closes the connection, and the name's reader only when it gets the processor again.
TEST_P(FifoNames, AServerThatDiesSlowlyLosesItsNameWithTheChannel) {
    connect_pair();
    const std::string path = path_of(listener_->address());
    server_.reset();
    FrameInfo info{};
    EXPECT_EQ(client_->next(&info, Deadline(test::forever)), IPC_PEER_CLOSED);
    EXPECT_TRUE(test::exists(path));
    listener_->close();
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); // as a killed process leaves it
    client_.reset();
    EXPECT_FALSE(test::exists(path));
}

TEST_P(KilledClient, IsNoticedByTheServer) {
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    const std::string address = listener_->address();
    std::thread acceptor([&] { EXPECT_EQ(test::accept(*listener_, &server_), IPC_OK) << last_error(); });
    test::Child child([&] { return test::connect(address, new std::unique_ptr<FrameChannel>) == IPC_OK; });
    acceptor.join();
    ASSERT_TRUE(child.ready());
    Status status = IPC_OK;
    std::thread receiver([&] {
        FrameInfo info{};
        status = server_->next(&info, Deadline(test::forever));
    });
    child.end();
    receiver.join();
    EXPECT_EQ(status, IPC_PEER_CLOSED);
}

TEST_P(NamedTransport, NamesThatAreNoPlainNamesAreRefused) {
    for (const std::string name : {"../escape", ".hidden", "a/b", "a b"}) {
        const std::string address = std::string(GetParam()) + "://" + name;
        EXPECT_EQ(test::listen(address, &listener_), IPC_BAD_ADDRESS) << address;
        EXPECT_EQ(test::connect(address, &client_), IPC_BAD_ADDRESS) << address;
    }
}

TEST_P(NamedTransport, WhatIsNotOursIsLeftAlone) {
    const std::string address = fresh_address();
    const std::string path = path_of(address);
    // The folder exists once somebody has listened.
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);

    // A plain file.
    ::close(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    EXPECT_EQ(test::listen(address, &listener_), IPC_NAME_IN_USE);
    EXPECT_NE(test::connect(address, &client_), IPC_OK);
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());

    // A link to a server that would answer.
    ASSERT_EQ(test::listen(fresh_address(), &listener_), IPC_OK);
    ASSERT_EQ(symlink(path_of(listener_->address()).c_str(), path.c_str()), 0);
    std::unique_ptr<FrameListener> second;
    EXPECT_EQ(test::listen(address, &second), IPC_NAME_IN_USE) << last_error();
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());
}

TEST_P(NamedTransport, AnotherUsersNameIsLeftAlone) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
    const std::string address = fresh_address();
    const std::string path = path_of(address);
    const auto child = serving_child(address, false);
    ASSERT_TRUE(child->ready());
    ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    child->end();
    // Dead as it is, it is not ours to remove.
    EXPECT_EQ(test::connect(address, &client_, 500), IPC_NO_PERMISSION) << last_error();
    EXPECT_EQ(test::listen(address, &listener_), IPC_NO_PERMISSION) << last_error();
    EXPECT_TRUE(test::exists(path));
    unlink(path.c_str());
}

TEST(PipeMode, MessagesOfThePipeAreRefusedHere) {
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> client;
    const std::string address = "pipe://" + test::unique_name() + "?mode=message";
    EXPECT_EQ(test::listen(address, &listener), IPC_BAD_OPTION);
    EXPECT_NE(std::string(last_error()).find("Windows"), std::string::npos) << last_error();
    EXPECT_EQ(test::connect(address, &client), IPC_BAD_OPTION);
}

} // namespace
} // namespace ipc
