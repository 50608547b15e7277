// Long requests, and another thread that reads the caller's registers all the time, as a runtime that collects garbage does. Wine ends
// a thread that is asked while what it sends does not fit into the pipe to Wine's server (docs/windows.md, "Long requests").
#include "../core/channels.hpp"
#include "child_process.hpp"
#include "core/status.hpp"
#include "msrpc_support.hpp"

#include <algorithm>
#include <cstring>
#include <future>

namespace ipc::test {
namespace {

constexpr size_t long_request = 300'000;
constexpr int calls = 30;

ipc_status IPC_CALL confirm(void*, const void* request, size_t request_length, ipc_reply_writer* writer) {
    const auto sent = pattern(long_request);
    if (request_length == long_request && std::memcmp(request, sent.data(), long_request) == 0) return IPC_OK;
    ipc_reply_fail(writer, "the request came altered");
    return IPC_HANDLER_FAILED;
}

// Not a test: the server. A process of its own, because Wine's messages between windows of one process do not pass Wine's server.
TEST(LongRequests, DISABLED_Serves) {
    const Listener listener = listen_at(child_parameter());
    const Channel channel = accept_from(listener);
    ASSERT_TRUE(channel);
    ipc_serve(channel.get(), confirm, nullptr);
}

class LongRequestsOver : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, LongRequestsOver,
                         testing::Values("pipe", "mailslot", "wm-copydata", "com", "msrpc-alpc", "msrpc-np"),
                         [](const auto& one) {
                             std::string name = one.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(LongRequestsOver, ArriveWhileTheCallersRegistersAreRead) {
    const std::string address = unique_address(GetParam());
    const ChildProcess child("LongRequests.DISABLED_Serves", address);
    ipc_channel* connected = nullptr;
    const Stopwatch watch;
    while (ipc_connect(address.c_str(), 5000, &connected) != IPC_OK && watch.ms() < 20'000) Sleep(20);
    ASSERT_NE(connected, nullptr) << last_error();
    Channel channel(connected);
    int answered = 0; // the calling thread's, until it is joined
    std::promise<HANDLE> own;
    std::thread calling([&] {
        HANDLE thread = nullptr;
        DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &thread, 0, FALSE,
                        DUPLICATE_SAME_ACCESS);
        own.set_value(thread);
        const auto request = pattern(long_request);
        for (; answered < calls; ++answered) {
            size_t replied = 0;
            ASSERT_EQ(ipc_call(channel.get(), request.data(), request.size(), nullptr, 0, &replied, 20'000), IPC_OK)
                << "request " << answered << ": " << last_error();
        }
    });
    const win32::Handle asked(own.get_future().get());
    int asking = 0;
    while (WaitForSingleObject(asked.get(), 0) == WAIT_TIMEOUT) {
        CONTEXT registers{};
        registers.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
        if (GetThreadContext(asked.get(), &registers)) ++asking;
    }
    calling.join();
    EXPECT_EQ(answered, calls) << "the calling thread was ended";
    EXPECT_GT(asking, 0);
    // Freeing waits for the threads that are in it: forever for one that was ended there.
    if (answered != calls) static_cast<void>(channel.release());
}

} // namespace
} // namespace ipc::test
