// queue and ring on Windows: where their files stand, who may open them, and what the dead leave. What the queues do in memory
// is the same code on both systems and tested in native/tests/queue and native/tests/ring.
#include "child_process.hpp"
#include "core/address.hpp"
#include "ipc/ipc.h"
#include "transports/queue/queue_file.hpp"
#include "transports/ring/ring_file.hpp"
#include "win32/utf.hpp"

#include <aclapi.h>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

ipc::Address parsed(const std::string& text) {
    ipc::Address address;
    EXPECT_EQ(IPC_OK, ipc::Address::parse(text.c_str(), &address)) << ipc::last_error();
    return address;
}

std::string folder() {
    char root[MAX_PATH] = {};
    GetEnvironmentVariableA("LOCALAPPDATA", root, sizeof root);
    return std::string(root) + "\\ipc";
}

// Another queue than the one it sleeps at, from which it might take its own message.
std::string where_the_child_speaks(const std::string& address) {
    return "queue://" + parsed(address).name() + "-child";
}

std::string path_of(const std::string& address) {
    return folder() + "\\" + address.substr(0, address.find("://")) + "-" + address.substr(address.find("://") + 3);
}

bool exists(const std::string& path) {
    return GetFileAttributesA(path.c_str()) != INVALID_FILE_ATTRIBUTES;
}

// How many files stand there whose names begin so.
int count(const std::string& pattern) {
    WIN32_FIND_DATAA found;
    const HANDLE search = FindFirstFileA(pattern.c_str(), &found);
    if (search == INVALID_HANDLE_VALUE) return 0;
    int files = 0;
    do ++files;
    while (FindNextFileA(search, &found));
    FindClose(search);
    return files;
}

struct OpenQueue {
    ipc_queue* handle = nullptr;
    explicit OpenQueue(const std::string& address) {
        EXPECT_EQ(IPC_OK, ipc_queue_open(address.c_str(), 5000, &handle)) << ipc_last_error();
    }
    ~OpenQueue() { ipc_queue_free(handle); }
    ipc_status put(const std::string& text, int timeout_ms = 5000) {
        return ipc_queue_enqueue(handle, text.data(), text.size(), timeout_ms);
    }
    // What was taken, or the status in angle brackets.
    std::string take(int timeout_ms = 5000) {
        char buffer[1000];
        size_t length = 0;
        const ipc_status status = ipc_queue_dequeue(handle, buffer, sizeof buffer, &length, timeout_ms);
        return status == IPC_OK ? std::string(buffer, length) : "<" + std::to_string(status) + ">";
    }
};

const std::string timed_out = "<" + std::to_string(IPC_TIMED_OUT) + ">";

// Sets a variable of the environment for a while.
class Environment {
  public:
    Environment(const char* name, const std::string& value) : name_(name) {
        char before[MAX_PATH] = {};
        GetEnvironmentVariableA(name, before, sizeof before);
        before_ = before;
        SetEnvironmentVariableA(name, value.c_str());
    }
    ~Environment() { SetEnvironmentVariableA(name_, before_.c_str()); }

  private:
    const char* name_;
    std::string before_;
};

} // namespace

TEST(QueueFilesChild, DISABLED_DiesWithTheWritersLock) {
    std::unique_ptr<ipc::queue::QueueFile> file;
    ASSERT_EQ(IPC_OK, ipc::queue::QueueFile::open(parsed(child_parameter()), 65536, &file)) << ipc::last_error();
    file->header().writer_lock = file->participant() << 1;
    TerminateProcess(GetCurrentProcess(), 9);
}

TEST(QueueFilesChild, DISABLED_PutsAndIsKilled) {
    OpenQueue queue(child_parameter());
    ASSERT_EQ(IPC_OK, queue.put("from the dead"));
    TerminateProcess(GetCurrentProcess(), 9);
}

TEST(QueueFilesChild, DISABLED_SleepsForAMessage) {
    OpenQueue queue(child_parameter());
    ASSERT_EQ(IPC_OK, OpenQueue(where_the_child_speaks(child_parameter())).put("asleep soon"));
    queue.take(60'000);
}

TEST(QueueFiles, QueueOutlivesItsMakerAndGoesWhenItIsRemoved) {
    const std::string address = unique_address("queue");
    {
        OpenQueue queue(address);
        ASSERT_EQ(IPC_OK, queue.put("kept"));
    }
    EXPECT_TRUE(exists(path_of(address)));
    EXPECT_EQ("kept", OpenQueue(address).take());
    EXPECT_EQ(IPC_OK, ipc_queue_remove(address.c_str())) << ipc_last_error();
    EXPECT_EQ(0, count(path_of(address) + "*"));
    EXPECT_EQ(IPC_NO_SERVER, ipc_queue_remove(address.c_str()));
}

TEST(QueueFiles, RemovedWhileOpenItServesThoseWhoHaveIt) {
    const std::string address = unique_address("queue");
    {
        OpenQueue old(address);
        ASSERT_EQ(IPC_OK, ipc_queue_remove(address.c_str())) << ipc_last_error();
        OpenQueue fresh(address);
        ASSERT_EQ(IPC_OK, old.put("old"));
        EXPECT_EQ(timed_out, fresh.take(20));
        EXPECT_EQ("old", old.take());
    }
    EXPECT_EQ(IPC_OK, ipc_queue_remove(address.c_str()));
    EXPECT_EQ(0, count(path_of(address) + "*")) << "the last one sweeps up";
}

TEST(QueueFiles, LockOfTheDeadIsTakenOver) {
    const std::string address = unique_address("queue");
    OpenQueue queue(address);
    ChildProcess child("QueueFilesChild.DISABLED_DiesWithTheWritersLock", address);
    child.wait();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(IPC_OK, queue.put("after it", 5000)) << ipc_last_error();
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
    EXPECT_EQ("after it", queue.take());
    ipc_queue_remove(address.c_str());
}

TEST(QueueFiles, SleeperThatIsKilledCostsTheOthersNoMessage) {
    for (const std::string transport : {"queue", "ring"}) {
        const std::string address = unique_address(transport, "?wait=block");
        OpenQueue queue(address);
        OpenQueue from_child(where_the_child_speaks(address));
        ChildProcess child("QueueFilesChild.DISABLED_SleepsForAMessage", address);
        EXPECT_EQ("asleep soon", from_child.take(20'000));
        Sleep(200);
        child.kill();
        std::string got;
        std::thread next([&] { got = queue.take(20'000); });
        Sleep(100);
        OpenQueue other(address);
        const auto before = std::chrono::steady_clock::now();
        EXPECT_EQ(IPC_OK, other.put("for the living"));
        next.join();
        EXPECT_EQ("for the living", got) << transport;
        EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2)) << transport;
        ipc_queue_remove(address.substr(0, address.find('?')).c_str());
        ipc_queue_remove(where_the_child_speaks(address).c_str());
    }
}

// Many sleepers, woken one by one and all at once: room for one large message is room for several small ones.
TEST(QueueFiles, ManyWhoWaitForRoomAllGetIt) {
    const std::string address = unique_address("queue", "?wait=block&size=64k");
    OpenQueue queue(address);
    const std::string half(30'000, 'x');
    ASSERT_EQ(IPC_OK, queue.put(half));
    ASSERT_EQ(IPC_OK, queue.put(half));
    std::vector<std::thread> writers;
    std::atomic<int> done{0};
    for (int i = 0; i < 6; ++i)
        writers.emplace_back([&] {
            OpenQueue own(address);
            if (own.put(std::string(8'000, 'y'), 20'000) == IPC_OK) ++done;
        });
    Sleep(300);
    EXPECT_EQ(0, done);
    char buffer[32'768];
    size_t length = 0;
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(IPC_OK, ipc_queue_dequeue(queue.handle, buffer, sizeof buffer, &length, 5000)) << i;
        EXPECT_EQ(i < 2 ? 30'000u : 8'000u, length);
    }
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(6, done);
    ipc_queue_remove(address.substr(0, address.find('?')).c_str());
}

TEST(QueueFiles, ClosingWakesAllOfItsOwnThreads) {
    for (const std::string transport : {"queue", "ring"}) {
        const std::string address = unique_address(transport, "?wait=block");
        OpenQueue queue(address);
        std::vector<std::thread> readers;
        std::atomic<int> closed{0};
        for (int i = 0; i < 5; ++i)
            readers.emplace_back([&] {
                if (queue.take(20'000) == "<" + std::to_string(IPC_CLOSED) + ">") ++closed;
            });
        Sleep(200);
        const auto before = std::chrono::steady_clock::now();
        ipc_queue_close(queue.handle);
        for (auto& reader : readers) reader.join();
        EXPECT_EQ(5, closed) << transport;
        EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2)) << transport;
        ipc_queue_remove(address.substr(0, address.find('?')).c_str());
    }
}

TEST(QueueFiles, WhatIsNoQueueIsRefused) {
    const std::string address = unique_address("queue");
    { OpenQueue makes_the_folder(address); }
    ASSERT_EQ(IPC_OK, ipc_queue_remove(address.c_str()));
    const auto write = [&](const std::vector<uint32_t>& words, LONGLONG bytes) {
        const ipc::win32::Handle file(
            CreateFileA(path_of(address).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, 0, nullptr));
        DWORD written = 0;
        WriteFile(file.get(), words.data(), static_cast<DWORD>(words.size() * 4), &written, nullptr);
        LARGE_INTEGER end;
        end.QuadPart = bytes;
        EXPECT_TRUE(SetFilePointerEx(file.get(), end, nullptr, FILE_BEGIN) && SetEndOfFile(file.get()));
    };
    const uint32_t magic = ipc::queue::file_magic;
    ipc_queue* none = nullptr;
    const auto opening = [&] { return ipc_queue_open(address.c_str(), 1000, &none); };
    write({}, 0);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, opening());
    write({1, 1, 65536, 0}, 4096 + 65536);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, opening());
    write({magic, 2, 65536, 0}, 4096 + 65536);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, opening());
    write({magic, 1, 65536, 0}, 4096 + 65535);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, opening());
    write({magic, 1, 65537, 0}, 4096 + 65537);
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, opening());
    EXPECT_EQ(IPC_OK, ipc_queue_remove(address.c_str()));
}

// A folder that others may open, or that somebody else made, is not trusted.
TEST(QueueFiles, FolderThatOthersMayOpenIsRefused) {
    const std::string root = folder() + "-test-" + std::to_string(GetCurrentProcessId());
    ASSERT_TRUE(CreateDirectoryA(root.c_str(), nullptr));
    SECURITY_DESCRIPTOR everybody;
    InitializeSecurityDescriptor(&everybody, SECURITY_DESCRIPTOR_REVISION);
    SetSecurityDescriptorDacl(&everybody, TRUE, nullptr, FALSE);
    SECURITY_ATTRIBUTES attributes{sizeof attributes, &everybody, FALSE};
    ASSERT_TRUE(CreateDirectoryA((root + "\\ipc").c_str(), &attributes));
    {
        const Environment elsewhere("LOCALAPPDATA", root);
        ipc_queue* none = nullptr;
        EXPECT_EQ(IPC_NO_PERMISSION, ipc_queue_open(unique_address("queue").c_str(), 1000, &none));
        EXPECT_EQ(IPC_NO_PERMISSION, ipc_queue_open(unique_address("ring").c_str(), 1000, &none));
    }
    RemoveDirectoryA((root + "\\ipc").c_str());
    RemoveDirectoryA(root.c_str());
}

TEST(RingFiles, GoesWithItsLastOpener) {
    const std::string address = unique_address("ring");
    {
        OpenQueue first(address);
        ASSERT_EQ(IPC_OK, first.put("waits"));
        { OpenQueue second(address); }
        EXPECT_TRUE(exists(path_of(address)));
        OpenQueue third(address);
        EXPECT_EQ("waits", third.take());
    }
    EXPECT_EQ(0, count(path_of(address) + "*"));
    EXPECT_EQ(IPC_NO_SERVER, ipc_queue_remove(address.c_str()));
}

TEST(RingFiles, RingOfTheDeadIsMadeAnew) {
    const std::string address = unique_address("ring");
    ChildProcess child("QueueFilesChild.DISABLED_PutsAndIsKilled", address);
    child.wait();
    {
        OpenQueue ring(address);
        EXPECT_EQ(timed_out, ring.take(20)) << "what waited went with its opener";
        EXPECT_EQ(IPC_OK, ring.put("new"));
        EXPECT_EQ("new", ring.take());
    }
    EXPECT_EQ(0, count(path_of(address) + "*"));
}

TEST(RingFiles, LivingAndDeadAreTold) {
    const std::string address = unique_address("ring");
    std::unique_ptr<ipc::ring::RingFile> ours, theirs;
    ASSERT_EQ(IPC_OK, ipc::ring::RingFile::open(parsed(address), &ours)) << ipc::last_error();
    ASSERT_EQ(IPC_OK, ipc::ring::RingFile::open(parsed(address), &theirs)) << ipc::last_error();
    const uint32_t number = theirs->number();
    EXPECT_NE(ours->number(), number);
    EXPECT_TRUE(ours->is_alive(ours->number()) && ours->is_alive(number) && theirs->is_alive(ours->number()));
    EXPECT_FALSE(ours->is_alive(77));
    theirs.reset();
    EXPECT_FALSE(ours->is_alive(number));
    EXPECT_TRUE(ours->is_alive(ours->number()));
}
