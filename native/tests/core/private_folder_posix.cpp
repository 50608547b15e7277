// Where names stand, and what a second user on the machine can do about it. The C ABI asks, as the user's program would.
#include "ipc/ipc.h"
#include "stranger.hpp"

#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace ipc {
namespace {

constexpr uid_t nobody = 65534;

// A folder that goes with this object, and what lies in it or one below.
class Folder {
  public:
    explicit Folder(mode_t mode = 0700) : path_("/tmp/ipc-test-" + test::unique_name()) {
        EXPECT_EQ(mkdir(path_.c_str(), 0700), 0);
        EXPECT_EQ(chmod(path_.c_str(), mode), 0);
    }
    explicit Folder(std::string path) : path_(std::move(path)) {}
    ~Folder() {
        rmdir((path_ + "/ipc").c_str());
        rmdir(path_.c_str());
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// With no right but its own where the machine lets other users through "/" at all.
bool become_plain(uid_t user) {
    struct stat root {};
    if (stat("/", &root) != 0 || (root.st_mode & S_IXOTH) == 0) return test::become(user);
    return setgid(user) == 0 && setuid(user) == 0;
}

// In a process of its own, since the environment is the whole process's.
testing::AssertionResult in_child(const std::function<bool()>& work) {
    const test::Child child(work);
    return child.ready() ? testing::AssertionSuccess() : testing::AssertionFailure();
}

bool expect_folder(const std::string& runtime, const std::string& expected) {
    setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    const std::string shared = "ipc-" + std::to_string(geteuid());
    EXPECT_EQ(posix::private_folder(), expected.empty() ? "/tmp/" + shared : expected);
    EXPECT_EQ(posix::memory_folder(), expected.empty() ? "/dev/shm/" + shared : expected);
    return !testing::Test::HasFailure();
}

// Opens an address the way its transport is opened, `serving` or as a client; what it opened is closed again.
ipc_status open_and_close(const std::string& address, bool serving) {
    ipc_status status;
    if (address.starts_with("queue://") || address.starts_with("ring://")) {
        ipc_queue* queue = nullptr;
        status = serving ? ipc_queue_open(address.c_str(), 1000, &queue) : ipc_queue_remove(address.c_str());
        ipc_queue_free(queue);
    } else if (address.starts_with("broadcast://")) {
        ipc_publisher* publisher = nullptr;
        ipc_subscriber* subscriber = nullptr;
        status = serving ? ipc_publisher_open(address.c_str(), &publisher)
                         : ipc_subscriber_open(address.c_str(), 1000, &subscriber);
        ipc_publisher_free(publisher);
        ipc_subscriber_free(subscriber);
    } else {
        ipc_listener* listener = nullptr;
        ipc_channel* channel = nullptr;
        status = serving ? ipc_listen(address.c_str(), &listener) : ipc_connect(address.c_str(), 1000, &channel);
        ipc_listener_free(listener);
        ipc_channel_free(channel);
    }
    return status;
}

std::vector<std::string> addresses_in_the_file_system() {
    std::vector<std::string> addresses;
    for (const char* transport : {"pipe", "unix", "fifo", "shm", "shm-event", "broadcast", "queue", "ring"})
        addresses.push_back(std::string(transport) + "://" + test::unique_name());
    addresses.push_back("unix:///tmp/" + test::unique_name() + ".socket");
    return addresses;
}

// Every transport with names in the file system says this, to servers and clients alike, and names what the text must name.
bool all_refuse(const std::vector<std::string>& words) {
    for (const std::string& address : addresses_in_the_file_system())
        for (const bool serving : {true, false}) {
            EXPECT_EQ(open_and_close(address, serving), IPC_NO_PERMISSION) << address << ": " << ipc_last_error();
            for (const std::string& word : words)
                EXPECT_NE(std::string(ipc_last_error()).find(word), std::string::npos)
                    << address << ": '" << ipc_last_error() << "' does not name " << word;
        }
    return !testing::Test::HasFailure();
}

bool all_work() {
    for (const std::string& address : addresses_in_the_file_system()) {
        EXPECT_EQ(open_and_close(address, true), IPC_OK) << address << ": " << ipc_last_error();
        // The one that outlives its processes.
        if (address.starts_with("queue://")) {
            EXPECT_EQ(ipc_queue_remove(address.c_str()), IPC_OK) << ipc_last_error();
        }
    }
    return !testing::Test::HasFailure();
}

TEST(PrivateFolder, IsMadeForTheUserAlone) {
    for (const std::string& path : {posix::private_folder(), posix::memory_folder()}) {
        posix::Descriptor folder;
        ASSERT_EQ(posix::open_folder_of_user(path, &folder), IPC_OK) << last_error();
        struct stat status {};
        ASSERT_EQ(stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0700u);
        EXPECT_EQ(status.st_uid, geteuid());
    }
}

TEST(PrivateFolder, IsInTheRuntimeFolderIfThatIsTheUsersAlone) {
    const Folder own, readable(0755), writable(0770), open_to_all(0707);
    // Root plays a user without a session, since its own may have a folder in /run/user, beside which the fallback is not seen.
    const bool root = geteuid() == 0;
    const uid_t user = root ? 1'650'000 + static_cast<uid_t>(getpid()) : geteuid();
    const std::string system = "/run/user/" + std::to_string(user);
    if (test::exists(system)) GTEST_SKIP() << "the fallback cannot be seen beside " << system;
    for (const Folder* folder : {&own, &readable, &writable, &open_to_all})
        ASSERT_EQ(chown(folder->path().c_str(), user, root ? user : getegid()), 0);
    const auto finds = [&](const std::string& runtime, const std::string& expected) {
        return in_child([&] { return (!root || test::become(user)) && expect_folder(runtime, expected); });
    };
    EXPECT_TRUE(finds(own.path(), own.path() + "/ipc"));
    EXPECT_TRUE(finds(own.path() + "//", own.path() + "/ipc"));
    EXPECT_TRUE(finds(readable.path(), readable.path() + "/ipc"));
    for (const std::string& unfit : {std::string(), std::string("."), own.path().substr(1), own.path() + "/nowhere",
                                     std::string("/dev/null"), writable.path(), open_to_all.path()})
        EXPECT_TRUE(finds(unfit, "")) << unfit;
    if (!root) GTEST_SKIP() << "only root can give a folder to another user";
    ASSERT_EQ(chown(own.path().c_str(), nobody, nobody), 0);
    EXPECT_TRUE(finds(own.path(), "")) << "another user's";
}

TEST(PrivateFolder, IsInTheSystemsRuntimeFolderIfNoneIsGiven) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's folder below /run/user";
    const uid_t some_user = 1'600'000 + static_cast<uid_t>(getpid());
    const bool made = mkdir("/run/user", 0755) == 0;
    const Folder given;
    ASSERT_EQ(chown(given.path().c_str(), some_user, some_user), 0);
    const std::string system = "/run/user/" + std::to_string(some_user);
    const Folder cleanup(system);
    const auto as_its_user = [&](const std::string& runtime, const std::string& expected) {
        return in_child([&] { return test::become(some_user) && expect_folder(runtime, expected); });
    };
    EXPECT_TRUE(as_its_user("", "")) << "there is none";
    ASSERT_EQ(mkdir(system.c_str(), 0700), 0);
    EXPECT_TRUE(as_its_user("", "")) << "another user's";
    ASSERT_EQ(chown(system.c_str(), some_user, some_user), 0);
    EXPECT_TRUE(as_its_user("", system + "/ipc"));
    EXPECT_TRUE(as_its_user("/root", system + "/ipc")) << "what is given is another user's";
    EXPECT_TRUE(as_its_user(given.path(), given.path() + "/ipc")) << "what is given goes first";
    EXPECT_TRUE(in_child([&] {
        if (!test::become(some_user)) return false;
        unsetenv("XDG_RUNTIME_DIR");
        return all_work() && test::exists(system + "/ipc");
    }));
    EXPECT_EQ(chmod(system.c_str(), 0770), 0);
    EXPECT_TRUE(as_its_user("", "")) << "others of its group may write";
    if (made) rmdir("/run/user");
}

TEST(PrivateFolder, ARuntimeFolderServesEveryTransportAndIsLeftEmpty) {
    const Folder runtime;
    EXPECT_TRUE(in_child([&] {
        setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
        if (!all_work()) return false;
        ipc_queue_remove("queue://none");
        for (const std::string transport : {"unix", "fifo", "shm", "shm-event"}) {
            const std::string address = transport + "://" + test::unique_name();
            ipc_listener* listener = nullptr;
            EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
            const std::string prefix = transport == "shm-event" ? "event" : transport;
            EXPECT_TRUE(test::exists(runtime.path() + "/ipc/" + prefix +
                                     address.substr(address.find("://") + 2).replace(0, 1, "-")));
            ipc_listener_free(listener);
        }
        return !testing::Test::HasFailure();
    }));
    EXPECT_EQ(rmdir((runtime.path() + "/ipc").c_str()), 0) << "something is left in it";
}

TEST(PrivateFolder, ALongRuntimeFolderLeavesNamesTheirLength) {
    const Folder outer;
    const std::string runtime = outer.path() + "/" + std::string(200, 'r');
    ASSERT_EQ(mkdir(runtime.c_str(), 0700), 0);
    EXPECT_TRUE(in_child([&] {
        setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
        std::string name = test::unique_name();
        name.resize(80, 'n');
        const std::string path = runtime + "/ipc/unix-" + name;
        std::unique_ptr<FrameListener> listener;
        std::unique_ptr<FrameChannel> client, server;
        EXPECT_EQ(test::listen("unix://" + name, &listener), IPC_OK) << last_error();
        EXPECT_TRUE(test::exists(path));
        EXPECT_EQ(test::connect("unix://" + name, &client), IPC_OK) << last_error();
        EXPECT_EQ(test::accept(*listener, &server), IPC_OK) << last_error();
        listener.reset();
        EXPECT_FALSE(test::exists(path));
        EXPECT_EQ(test::connect("unix://" + name, &client), IPC_NO_SERVER) << last_error();
        return !testing::Test::HasFailure();
    }));
    rmdir((runtime + "/ipc").c_str());
    rmdir(runtime.c_str());
}

TEST(PrivateFolder, ItsOwnersMistakesAreRefusedWithTheRemedy) {
    const Folder runtime;
    const std::string folder = runtime.path() + "/ipc";
    const auto refused = [&](const std::vector<std::string>& words) {
        return in_child([&] {
            setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
            return all_refuse(words);
        });
    };
    ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
    EXPECT_TRUE(refused({folder, "mode 0755", "chmod"}));
    rmdir(folder.c_str());
    ASSERT_EQ(symlink("/tmp", folder.c_str()), 0);
    EXPECT_TRUE(refused({folder, "is not a folder", "remove it"}));
    unlink(folder.c_str());
    ::close(open(folder.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0700));
    EXPECT_TRUE(refused({folder, "is not a folder", "remove it"}));
    unlink(folder.c_str());
}

// A second user makes the victim's folder first, in each form it could have.
TEST(Squatting, IsToldWithWhomToAskAndXdgRuntimeDirHelps) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can take another user's part";
    const uid_t victim = 1'500'000 + static_cast<uid_t>(getpid());
    const Folder runtime;
    ASSERT_EQ(chown(runtime.path().c_str(), victim, victim), 0);
    const std::string squatted[] = {"/tmp/ipc-" + std::to_string(victim), "/dev/shm/ipc-" + std::to_string(victim)};
    const auto squat = [&](const std::function<bool(const char*)>& make) {
        return in_child([&] { return become_plain(nobody) && make(squatted[0].c_str()) && make(squatted[1].c_str()); });
    };
    const std::function<bool(const char*)> forms[] = {
        [](const char* path) { return mkdir(path, 0700) == 0; },
        [](const char* path) { return mkdir(path, 0777) == 0 && chmod(path, 0777) == 0; },
        [](const char* path) { return symlink("/tmp", path) == 0; },
        [](const char* path) { return ::close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0; },
    };
    for (const auto& form : forms) {
        ASSERT_TRUE(squat(form));
        EXPECT_TRUE(in_child([&] {
            unsetenv("XDG_RUNTIME_DIR");
            return become_plain(victim) &&
                   all_refuse({std::to_string(victim), "nobody (65534)", "root", "XDG_RUNTIME_DIR"});
        }));
        EXPECT_TRUE(in_child([&] {
            setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
            return become_plain(victim) && all_work();
        }));
        for (const std::string& path : squatted)
            if (unlink(path.c_str()) != 0) rmdir(path.c_str());
        // What a server that is still there left in the folder: queues, which outlive their makers.
        EXPECT_EQ(system(("rm -r " + runtime.path() + "/ipc").c_str()), 0);
    }
}

// A second user tries everything that stands in the file system while it is in use.
TEST(SecondUser, NeitherConnectsNorOpensNorRemoves) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can take another user's part";
    std::vector<std::string> paths;
    std::vector<ipc_listener*> listeners;
    for (const std::string prefix : {"unix", "fifo", "shm", "shm-event"}) {
        const std::string name = test::unique_name();
        ASSERT_EQ(ipc_listen((prefix + "://" + name).c_str(), &listeners.emplace_back()), IPC_OK) << ipc_last_error();
        paths.push_back(posix::private_folder() + "/" + (prefix == "shm-event" ? "event" : prefix) + "-" + name);
    }
    const std::string pipe = test::unique_name();
    ASSERT_EQ(ipc_listen(("pipe://" + pipe).c_str(), &listeners.emplace_back()), IPC_OK) << ipc_last_error();
    const char* temporary = std::getenv("TMPDIR");
    paths.push_back((temporary != nullptr ? std::string(temporary) : "/tmp") + "/CoreFxPipe_" + pipe);
    std::vector<ipc_queue*> queues;
    const std::string queue = "queue://" + test::unique_name();
    for (const std::string& address : {queue, "ring://" + test::unique_name()}) {
        ASSERT_EQ(ipc_queue_open(address.c_str(), 1000, &queues.emplace_back()), IPC_OK) << ipc_last_error();
        std::string name = address;
        paths.push_back(posix::memory_folder() + "/" + name.replace(name.find("://"), 3, "-"));
    }
    for (const std::string& path : paths) EXPECT_TRUE(test::exists(path)) << path;
    EXPECT_TRUE(in_child([&] {
        if (setgid(nobody) != 0 || setuid(nobody) != 0) return false;
        for (const std::string& path : paths) {
            EXPECT_EQ(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), -1) << path;
            EXPECT_EQ(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC), -1) << path;
            EXPECT_NE(unlink(path.c_str()), 0) << path;
            EXPECT_NE(rename(path.c_str(), (path + "-mine").c_str()), 0) << path;
            EXPECT_EQ(open_and_close("unix://" + path, false), IPC_NO_PERMISSION) << path << ": " << ipc_last_error();
        }
        return !testing::Test::HasFailure();
    }));
    for (const std::string& path : paths) EXPECT_TRUE(test::exists(path)) << path;
    for (ipc_listener* listener : listeners) ipc_listener_free(listener);
    for (ipc_queue* each : queues) ipc_queue_free(each);
    EXPECT_EQ(ipc_queue_remove(queue.c_str()), IPC_OK);
}

} // namespace
} // namespace ipc
