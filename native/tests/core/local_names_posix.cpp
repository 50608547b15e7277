// Names in the file system and who stands behind them.
#include "posix/local_socket.hpp"
#include "stranger.hpp"
#include "support.hpp"
#include "transports/fifo/fifo_names_posix.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/un.h>
#include <thread>

namespace ipc {
namespace {

TEST(PrivateFolder, LocksKeepOthersOut) {
    posix::Descriptor lock;
    ASSERT_EQ(posix::lock_names(&lock), IPC_OK) << last_error();
    std::atomic<bool> got{false};
    std::thread other([&] {
        posix::Descriptor second;
        EXPECT_EQ(posix::lock_names(&second), IPC_OK) << last_error();
        got = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(got);
    lock.reset();
    other.join();
    EXPECT_TRUE(got);
}

// A client of fifo makes names of its own, under the lock.
TEST(PrivateFolder, AnotherProcessThatKeepsTheLockDoesNotOutlastATimeOut) {
    std::unique_ptr<FrameListener> listener;
    const std::string name = test::unique_name();
    ASSERT_EQ(test::listen("fifo://" + name, &listener), IPC_OK);
    posix::Descriptor lock;
    ASSERT_EQ(posix::lock_names(&lock), IPC_OK) << last_error();
    ipc_channel* channel = nullptr;
    EXPECT_EQ(ipc_connect(("fifo://" + name).c_str(), 50, &channel), IPC_TIMED_OUT) << ipc_last_error();
    ipc_channel_free(channel);
    lock.reset();
}

TEST(LocalSocket, IsForTheOwnerAloneWhateverTheUmask) {
    const mode_t before = umask(0);
    std::unique_ptr<FrameListener> listener;
    const std::string name = test::unique_name();
    ASSERT_EQ(test::listen("unix://" + name, &listener), IPC_OK);
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat((test::private_folder() + "/unix-" + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST(LocalSocket, StandsAtAnAbsolutePathToo) {
    const std::string path = "/tmp/" + test::unique_name() + ".socket";
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> client;
    ASSERT_EQ(test::listen("unix://" + path, &listener), IPC_OK) << last_error();
    EXPECT_TRUE(test::exists(path));
    EXPECT_EQ(test::connect("unix://" + path, &client), IPC_OK) << last_error();
    listener.reset();
    EXPECT_FALSE(test::exists(path));
    EXPECT_EQ(test::listen("unix:///tmp/", &listener), IPC_BAD_ADDRESS);
    EXPECT_EQ(test::listen("unix:///nowhere/at/all", &listener), IPC_SYSTEM) << last_error();
    EXPECT_EQ(test::connect("unix:///nowhere/at/all", &client), IPC_NO_SERVER) << last_error();
    EXPECT_EQ(test::listen("unix:///tmp/" + std::string(120, 'x'), &listener), IPC_BAD_ADDRESS) << last_error();
}

TEST(LocalSocket, ANameThatAnotherTookMeanwhileIsNotRemoved) {
    const std::string name = test::unique_name();
    const std::string path = test::private_folder() + "/unix-" + name;
    std::unique_ptr<FrameListener> first;
    std::unique_ptr<FrameListener> second;
    ASSERT_EQ(test::listen("unix://" + name, &first), IPC_OK);
    unlink(path.c_str());
    ASSERT_EQ(test::listen("unix://" + name, &second), IPC_OK);
    first.reset();
    EXPECT_TRUE(test::exists(path));
}

TEST(LocalSocket, ADatagramSocketIsNotMistakenForAServer) {
    const std::string name = test::unique_name();
    const std::string path = test::private_folder() + "/unix-" + name;
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> client;
    const posix::Descriptor other(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(test::connect("unix://" + name, &client), IPC_NOT_OUR_PROTOCOL) << last_error();
    EXPECT_EQ(test::listen("unix://" + name, &listener), IPC_NAME_IN_USE) << last_error();
    unlink(path.c_str());
}

TEST(LocalSocket, AClientOfAnotherUserIsDroppedAndTheNextOneServed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can take another user's part";
    const std::string path = "/tmp/" + test::unique_name() + ".socket";
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    ASSERT_EQ(test::listen("unix://" + path, &listener), IPC_OK) << last_error();
    // The owner opens the door by mistake: the credentials still keep the stranger out.
    ASSERT_EQ(chmod(path.c_str(), 0777), 0);
    EXPECT_TRUE(test::as_stranger([&] {
        const int raw = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        std::unique_ptr<FrameChannel> channel;
        return connect(raw, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
               test::connect("unix://" + path, &channel) == IPC_NO_PERMISSION;
    }));
    EXPECT_EQ(test::accept(*listener, &server, 50), IPC_TIMED_OUT);
    EXPECT_EQ(test::connect("unix://" + path, &client), IPC_OK) << last_error();
    EXPECT_EQ(test::accept(*listener, &server), IPC_OK) << last_error();
}

TEST(IsRunning, TellsLivingFromEnding) {
    EXPECT_TRUE(posix::is_running(getpid()));
    EXPECT_FALSE(posix::is_closing_descriptors(getpid()));
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    EXPECT_FALSE(posix::is_running(child)) << "a zombie";
    EXPECT_FALSE(posix::is_closing_descriptors(child)) << "a zombie without threads has closed them";
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(posix::is_running(child));
    EXPECT_FALSE(posix::is_closing_descriptors(child));
}

TEST(FifoRecord, IsTheOneOfTheDocument) {
    const std::string token = "0123456789abcdef0123456789abcdef";
    FifoRecord record = make_fifo_record(token);
    EXPECT_EQ(std::string(record.data(), 4), "IPCF");
    std::string read;
    EXPECT_TRUE(read_fifo_record(record.data(), &read));
    EXPECT_EQ(read, token);
    for (const size_t at : {size_t{0}, size_t{4}, size_t{8}, size_t{39}, size_t{40}, size_t{47}}) {
        FifoRecord damaged = record;
        damaged[at] = '/';
        EXPECT_FALSE(read_fifo_record(damaged.data(), &read)) << at;
    }
}

TEST(FifoHandshake, GarbageInTheQueueKeepsNoClientOut) {
    const std::string name = test::unique_name();
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    ASSERT_EQ(test::listen("fifo://" + name, &listener), IPC_OK);
    const posix::Descriptor queue = open_fifo(test::private_folder() + "/fifo-" + name, O_WRONLY);
    ASSERT_TRUE(queue);
    const std::string garbage(777, 'I');
    ASSERT_EQ(write(queue.get(), garbage.data(), garbage.size()), 777);
    // A record whose client is not there.
    const FifoRecord ghost = make_fifo_record("00000000000000000000000000000000");
    ASSERT_EQ(write(queue.get(), ghost.data(), ghost.size()), static_cast<ssize_t>(ghost.size()));
    std::thread connecting([&] { EXPECT_EQ(test::connect("fifo://" + name, &client), IPC_OK) << last_error(); });
    EXPECT_EQ(test::accept(*listener, &server), IPC_OK) << last_error();
    connecting.join();
}

TEST(FifoHandshake, TwoNamesPerConnectionGoAtOnceAndDeadOnesWithTheListener) {
    const std::string name = test::unique_name();
    const std::string path = test::private_folder() + "/fifo-" + name;
    const std::string token = "00000000000000000000000000000001";
    std::unique_ptr<FrameListener> listener;
    std::unique_ptr<FrameChannel> client;
    ASSERT_EQ(test::listen("fifo://" + name, &listener), IPC_OK);
    EXPECT_EQ(test::connect("fifo://" + name, &client, 50), IPC_TIMED_OUT) << last_error();
    // What a client killed while connecting leaves.
    ASSERT_EQ(mkfifo((path + "." + token + ".down").c_str(), 0600), 0);
    ASSERT_EQ(mkfifo((path + "." + token + ".up").c_str(), 0600), 0);
    listener->close();
    EXPECT_FALSE(test::exists(path + "." + token + ".down"));
    EXPECT_FALSE(test::exists(path + "." + token + ".up"));
    EXPECT_FALSE(test::exists(path));
}

} // namespace
} // namespace ipc
