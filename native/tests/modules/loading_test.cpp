// libipc in a folder of its own, with and without the module it looks for there.
#include "ipc/ipc.h"

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::string module_file = "libipc-boost-mq.so";

// A copy of the library in a fresh folder, loaded from there.
class LibraryCopy {
  public:
    LibraryCopy() {
        char made[] = "/tmp/ipc-module-test-XXXXXX";
        folder_ = mkdtemp(made);
        fs::copy_file(IPC_LIBRARY_FILE, folder_ / "libipc.so");
        library_ = dlopen((folder_ / "libipc.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library_, nullptr) << dlerror();
    }
    ~LibraryCopy() { fs::remove_all(folder_); } // not unloaded: a module may have thread-local data

    fs::path folder() const { return folder_; }
    template <class Function>
    Function* get(const char* name) const {
        return reinterpret_cast<Function*>(dlsym(library_, name));
    }
    ipc_status listen(const std::string& address) const {
        ipc_listener* listener = nullptr;
        const ipc_status status = get<decltype(ipc_listen)>("ipc_listen")(address.c_str(), &listener);
        if (status == IPC_OK) get<decltype(ipc_listener_free)>("ipc_listener_free")(listener);
        return status;
    }
    std::string last_error() const { return get<decltype(ipc_last_error)>("ipc_last_error")(); }

  private:
    fs::path folder_;
    void* library_;
};

std::string fresh_address(const char* what) {
    return std::string("boost-mq://module-test-") + what + "-" + std::to_string(getpid());
}

bool has_module() {
    return fs::exists(fs::path(IPC_MODULE_FOLDER) / module_file);
}

TEST(Module, MissingIsNotAvailableAndSaysWhereItWasLookedForAndWhatToInstall) {
    if (!has_module()) GTEST_SKIP() << "this build has no module: libboost-dev is missing";
    const LibraryCopy library;
    const std::string address = fresh_address("missing");
    EXPECT_EQ(library.listen(address), IPC_NOT_AVAILABLE);
    for (const std::string& expected : {(library.folder() / module_file).string(), std::string("libboost-dev")})
        EXPECT_NE(library.last_error().find(expected), std::string::npos) << library.last_error();
    ipc_channel* channel = nullptr;
    EXPECT_EQ(library.get<decltype(ipc_connect)>("ipc_connect")(address.c_str(), 100, &channel), IPC_NOT_AVAILABLE);
    EXPECT_EQ(channel, nullptr);
    // Nothing else suffers from it.
    EXPECT_EQ(library.listen("unix://module-test-unix-" + std::to_string(getpid())), IPC_OK) << library.last_error();
}

TEST(Module, PutBesideTheLibraryLaterItIsFound) {
    if (!has_module()) GTEST_SKIP() << "this build has no module: libboost-dev is missing";
    const LibraryCopy library;
    const std::string address = fresh_address("later");
    ASSERT_EQ(library.listen(address), IPC_NOT_AVAILABLE);
    fs::copy_file(fs::path(IPC_MODULE_FOLDER) / module_file, library.folder() / module_file);
    EXPECT_EQ(library.listen(address), IPC_OK) << library.last_error();
}

TEST(Module, AFileThatIsNoModuleIsNotAvailable) {
    if (!has_module()) GTEST_SKIP() << "this build has no module: libboost-dev is missing";
    const LibraryCopy library;
    std::ofstream(library.folder() / module_file) << "not a library";
    EXPECT_EQ(library.listen(fresh_address("text")), IPC_NOT_AVAILABLE);
    EXPECT_NE(library.last_error().find(module_file), std::string::npos) << library.last_error();
    fs::remove(library.folder() / module_file);
    // A library, but without the entry.
    fs::copy_file(IPC_LIBRARY_FILE, library.folder() / module_file);
    EXPECT_EQ(library.listen(fresh_address("other")), IPC_NOT_AVAILABLE);
    EXPECT_NE(library.last_error().find("not of the same build"), std::string::npos) << library.last_error();
}

TEST(Module, SeveralThreadsMayBeTheFirst) {
    if (!has_module()) GTEST_SKIP() << "this build has no module: libboost-dev is missing";
    const LibraryCopy library;
    fs::copy_file(fs::path(IPC_MODULE_FOLDER) / module_file, library.folder() / module_file);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            EXPECT_EQ(library.listen(fresh_address("thread") + "-" + std::to_string(i)), IPC_OK)
                << library.last_error();
        });
    for (std::thread& thread : threads) thread.join();
}

TEST(Module, ItsErrorMessagesAreTheLibrarysLastError) {
    if (!has_module()) GTEST_SKIP() << "this build has no module: libboost-dev is missing";
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen((fresh_address("message") + "?fragment=1").c_str(), &listener), IPC_BAD_OPTION);
    EXPECT_NE(std::string(ipc_last_error()).find("fragment=1"), std::string::npos) << ipc_last_error();
    // Each thread has its own.
    std::thread([] { EXPECT_STREQ(ipc_last_error(), ""); }).join();
}

} // namespace
