// Processes forked by one that uses the library: they get none of its descriptors, with exec or without, so that nobody mistakes a
// child for its dead parent.
#include "ipc/ipc.h"
#include "posix/files.hpp"
#include "support.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sys/mman.h>
#include <thread>

namespace ipc {
namespace {

constexpr int32_t patience = 10'000;

// Everything a process can have open, over one transport or all.
class Opened {
  public:
    void channel(const std::string& address) {
        ipc_listener*& listener = listeners_.emplace_back();
        ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
        ipc_channel* client = nullptr;
        std::thread connecting([&] {
            EXPECT_EQ(ipc_connect(ipc_listener_address(listener), patience, &client), IPC_OK) << ipc_last_error();
        });
        EXPECT_EQ(ipc_accept(listener, patience, &channels_.emplace_back()), IPC_OK) << ipc_last_error();
        connecting.join();
        channels_.push_back(client);
    }
    void queue(const std::string& address) {
        EXPECT_EQ(ipc_queue_open(address.c_str(), patience, &queues_.emplace_back()), IPC_OK) << ipc_last_error();
    }
    void broadcast(const std::string& address) {
        EXPECT_EQ(ipc_publisher_open(address.c_str(), &publisher_), IPC_OK) << ipc_last_error();
        EXPECT_EQ(ipc_subscriber_open(address.c_str(), patience, &subscriber_), IPC_OK) << ipc_last_error();
    }
    void all(const std::string& name) {
        for (const char* transport : {"pipe", "unix", "fifo", "shm", "shm-event"}) channel(transport + ("://" + name));
        channel("tcp://127.0.0.1:0");
        queue("queue://" + name);
        queue("ring://" + name);
        broadcast("broadcast://" + name);
    }
    ~Opened() {
        for (ipc_channel* channel : channels_) ipc_channel_free(channel);
        for (ipc_listener* listener : listeners_) ipc_listener_free(listener);
        for (ipc_queue* queue : queues_) ipc_queue_free(queue);
        ipc_subscriber_free(subscriber_);
        ipc_publisher_free(publisher_);
    }

  private:
    std::vector<ipc_listener*> listeners_;
    std::vector<ipc_channel*> channels_;
    std::vector<ipc_queue*> queues_;
    ipc_publisher* publisher_ = nullptr;
    ipc_subscriber* subscriber_ = nullptr;
};

std::set<std::string> descriptors() {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        found.insert(entry.path().filename());
    // Less the one that listed them.
    std::erase_if(found, [](const std::string& number) { return !test::exists("/proc/self/fd/" + number); });
    return found;
}

// What a program that is started here finds open. popen does not call what pthread_atfork registered.
std::string descriptors_after_exec() {
    std::string found;
    std::FILE* listing = popen("ls /proc/self/fd", "r");
    for (int c; (c = std::fgetc(listing)) != EOF;) found.push_back(static_cast<char>(c));
    EXPECT_EQ(pclose(listing), 0);
    return found;
}

TEST(Exec, NoDescriptorIsInherited) {
    const std::string name = test::unique_name();
    const std::string before = descriptors_after_exec();
    {
        Opened opened;
        opened.all(name);
        EXPECT_EQ(descriptors_after_exec(), before);
    }
    EXPECT_EQ(ipc_queue_remove(("queue://" + name).c_str()), IPC_OK);
}

TEST(Fork, DescriptorsOfTheLibraryStandForNothingInTheChild) {
    const std::string name = test::unique_name();
    const std::set<std::string> before = descriptors();
    {
        Opened opened;
        opened.all(name);
        // The publisher's thread closes what it has handed over; a fork at that very moment could copy it (ipc.h, FORK).
        std::set<std::string> after = descriptors();
        for (std::set<std::string> seen; seen != after; after = descriptors()) {
            seen = after;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        EXPECT_GT(after.size(), before.size() + 15);
        const test::Child child([&] {
            for (const std::string& number : after) {
                if (before.contains(number)) continue;
                std::error_code failed;
                EXPECT_EQ(std::filesystem::read_symlink("/proc/self/fd/" + number, failed), "/")
                    << number << failed.message();
            }
            // The child may use the library by itself.
            Opened again;
            again.all(name + "-child");
            EXPECT_EQ(ipc_queue_remove(("queue://" + name + "-child").c_str()), IPC_OK);
            std::fflush(stdout); // it will be killed
            return !testing::Test::HasFailure();
        });
        EXPECT_TRUE(child.ready());
    }
    EXPECT_EQ(ipc_queue_remove(("queue://" + name).c_str()), IPC_OK);
}

// What the processes of a test share by fork.
struct Page {
    std::atomic<pid_t> grandchild;
    std::array<char, 200> address;
};

// A process that opens something, forks a child that stays, and is killed.
class Forking {
  public:
    explicit Forking(const std::function<bool(Page&)>& open)
        : page_(*static_cast<Page*>(
              mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
          process_([&] { return open(page_); }) {}
    ~Forking() {
        if (page_.grandchild > 0) kill(page_.grandchild, SIGKILL);
        munmap(&page_, sizeof(Page));
    }
    // In that process.
    static void leave_a_child(Page& page) {
        if (fork() != 0) return;
        page.grandchild = getpid(); // by itself: then it has dropped what it must
        while (true) pause();
    }
    std::string address() const { return page_.address.data(); }
    void die() {
        ASSERT_TRUE(process_.ready());
        const test::Stopwatch watch;
        while (page_.grandchild == 0 && watch.ms() < patience) usleep(1000);
        ASSERT_GT(page_.grandchild, 0);
        process_.end();
        ASSERT_EQ(kill(page_.grandchild, 0), 0) << "the child lives";
    }

  private:
    Page& page_;
    test::Child process_;
};

class ForkedOver : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, ForkedOver, testing::Values("pipe", "unix", "fifo", "tcp", "shm", "shm-event"),
                         [](const auto& instance) {
                             std::string name = instance.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST_P(ForkedOver, AServersDeathIsSeenAlthoughItsChildLives) {
    const std::string transport = GetParam();
    const std::string address = transport == "tcp" ? "tcp://127.0.0.1:0" : transport + "://" + test::unique_name();
    Forking server([&](Page& page) {
        ipc_listener* listener = nullptr;
        if (ipc_listen(address.c_str(), &listener) != IPC_OK) return false;
        std::strncpy(page.address.data(), ipc_listener_address(listener), page.address.size() - 1);
        std::thread([listener, &page] {
            ipc_channel* channel = nullptr;
            if (ipc_accept(listener, patience, &channel) == IPC_OK) Forking::leave_a_child(page);
        }).detach();
        return true;
    });
    ipc_channel* client = nullptr;
    ASSERT_EQ(ipc_connect(server.address().c_str(), patience, &client), IPC_OK) << ipc_last_error();
    server.die();
    char byte;
    size_t length;
    EXPECT_EQ(ipc_receive(client, &byte, 1, &length, patience), IPC_PEER_CLOSED) << ipc_last_error();
    ipc_listener* next = nullptr;
    EXPECT_EQ(ipc_listen(server.address().c_str(), &next), IPC_OK) << "its name is free: " << ipc_last_error();
    ipc_listener_free(next);
    ipc_channel_free(client);
}

TEST_P(ForkedOver, AClientsDeathIsSeenAlthoughItsChildLives) {
    const std::string transport = GetParam();
    const std::string address = transport == "tcp" ? "tcp://127.0.0.1:0" : transport + "://" + test::unique_name();
    ipc_listener* listener = nullptr;
    ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
    const std::string where = ipc_listener_address(listener);
    ipc_channel* server = nullptr;
    std::thread accepting([&] { EXPECT_EQ(ipc_accept(listener, patience, &server), IPC_OK) << ipc_last_error(); });
    Forking client([&](Page& page) {
        ipc_channel* channel = nullptr;
        if (ipc_connect(where.c_str(), patience, &channel) != IPC_OK) return false;
        Forking::leave_a_child(page);
        return true;
    });
    accepting.join();
    client.die();
    char byte;
    size_t length;
    EXPECT_EQ(ipc_receive(server, &byte, 1, &length, patience), IPC_PEER_CLOSED) << ipc_last_error();
    ipc_channel_free(server);
    ipc_listener_free(listener);
}

TEST(Fork, TheDeadsLocksAreFreeAlthoughAChildLives) {
    for (const char* transport : {"queue", "ring"}) {
        const std::string name = test::unique_name();
        const std::string path = posix::memory_folder() + "/" + transport + "-" + name;
        Forking opener([&](Page& page) {
            ipc_queue* queue = nullptr;
            if (ipc_queue_open((transport + ("://" + name)).c_str(), patience, &queue) != IPC_OK) return false;
            const posix::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
            if (!posix::are_bytes_locked(file, 0, 1 << 20)) return false;
            Forking::leave_a_child(page);
            return true;
        });
        opener.die();
        const posix::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
        EXPECT_TRUE(file);
        EXPECT_FALSE(posix::are_bytes_locked(file, 0, 1 << 20)) << transport;
        unlink(path.c_str());
    }
}

TEST(Fork, APublishersDeathIsSeenAlthoughAChildLives) {
    const std::string address = "broadcast://" + test::unique_name();
    Forking opener([&](Page& page) {
        static ipc_publisher* publisher = nullptr;
        if (ipc_publisher_open(address.c_str(), &publisher) != IPC_OK) return false;
        std::thread([&page] {
            size_t count = 0;
            while (ipc_publisher_subscribers(publisher, &count) == IPC_OK && count == 0) usleep(1000);
            Forking::leave_a_child(page);
        }).detach();
        return true;
    });
    ipc_subscriber* subscriber = nullptr;
    ASSERT_EQ(ipc_subscriber_open(address.c_str(), patience, &subscriber), IPC_OK) << ipc_last_error();
    opener.die();
    char byte;
    size_t length;
    uint64_t lost;
    EXPECT_EQ(ipc_subscriber_receive(subscriber, &byte, 1, &length, &lost, patience), IPC_PEER_CLOSED)
        << ipc_last_error();
    ipc_subscriber_free(subscriber);
}

// A child that ends in the usual way runs what ends a program's static objects; it must not take its parent's names away.
TEST(Fork, AChildThatClosesItsCopiesLeavesTheParentsNames) {
    for (const char* transport : {"pipe", "unix", "fifo", "shm", "shm-event"}) {
        const std::string address = transport + ("://" + test::unique_name());
        ipc_listener* listener = nullptr;
        ASSERT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
        const test::Child child([&] {
            ipc_listener_free(listener);
            return true;
        });
        EXPECT_TRUE(child.ready());
        ipc_listener* second = nullptr;
        EXPECT_EQ(ipc_listen(address.c_str(), &second), IPC_NAME_IN_USE) << address;
        ipc_listener_free(second);
        ipc_listener_free(listener);
    }
}

} // namespace
} // namespace ipc
