#include "frame_stream_fixture.hpp"
#include "shared_memory/sealed_memory.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

namespace ipc {
namespace {

class Signals : public test::FrameStreamFixture {};

INSTANTIATE_TEST_SUITE_P(Streams, Signals, testing::ValuesIn(test::stream_kinds()), test::kind_name);

TEST_P(Signals, ReachTheProgramFromNoStream) {
    struct sigaction before {};
    struct sigaction deadly {};
    deadly.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &deadly, &before);
    hang_up();
    EXPECT_EQ(test::send(*channel_, test::pattern(100)), IPC_PEER_CLOSED);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
    sigaction(SIGPIPE, &before, nullptr);
}

// As by `ulimit -f`, whose signal ends a program that does not expect it.
TEST(SignalsOfFiles, DoNotReachAProgramWhoseFilesAreLimited) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit limited{4096, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
    posix::Descriptor file;
    const Status status = shared_memory::make_sealed_memory(65536, &file);
    const std::string message = last_error();
    sigset_t pending;
    sigpending(&pending);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(status, IPC_SYSTEM);
    EXPECT_NE(message.find("cannot make 65536 bytes of shared memory"), std::string::npos) << message;
    EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
}

} // namespace
} // namespace ipc
