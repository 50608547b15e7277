// Long requests, and another thread that reads the caller's registers all the time, as a runtime that collects garbage does. Wine ends
// a thread that is asked while what it sends does not fit into the pipe to Wine's server (docs/windows.md, "Long requests").
#include "../core/channels.hpp"
#include "child_process.hpp"
#include "core/status.hpp"
#include "ipc/ipc.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>

namespace ipc {
namespace {

constexpr size_t long_request = 300'000;

ipc_status IPC_CALL confirm(void*, const void* request, size_t request_length, ipc_reply_writer* writer) {
    const auto sent = test::pattern(long_request);
    if (request_length == long_request && std::memcmp(request, sent.data(), long_request) == 0) return IPC_OK;
    ipc_reply_fail(writer, "the request came altered");
    return IPC_HANDLER_FAILED;
}

// Not a test: the server. A process of its own, because Wine's messages between windows of one process do not pass Wine's server.
TEST(LongRequests, DISABLED_Serves) {
    ipc_listener* listener = nullptr;
    ipc_channel* channel = nullptr;
    ASSERT_EQ(ipc_listen(child_parameter().c_str(), &listener), IPC_OK) << last_error();
    ASSERT_EQ(ipc_accept(listener, 20'000, &channel), IPC_OK) << last_error();
    ipc_serve(channel, confirm, nullptr);
    ipc_channel_free(channel);
    ipc_listener_free(listener);
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
    ipc_channel* channel = nullptr;
    const test::Stopwatch watch;
    while (ipc_connect(address.c_str(), 5000, &channel) != IPC_OK && watch.ms() < 20'000) Sleep(20);
    ASSERT_NE(channel, nullptr) << last_error();
    std::atomic<int> answered = 0; // by now
    std::promise<HANDLE> own;
    std::thread calling([&] {
        HANDLE thread = nullptr;
        DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &thread, 0, FALSE,
                        DUPLICATE_SAME_ACCESS);
        own.set_value(thread);
        const auto request = test::pattern(long_request);
        for (int i = 0; i < 30; ++i) {
            size_t replied = 0;
            ASSERT_EQ(ipc_call(channel, request.data(), request.size(), nullptr, 0, &replied, 20'000), IPC_OK)
                << "request " << i << ": " << last_error();
            ++answered;
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
    EXPECT_EQ(answered, 30) << "the calling thread was ended";
    EXPECT_GT(asking, 0);
    if (answered == 30) ipc_channel_free(channel); // which waits for the threads that are in it
}

} // namespace
} // namespace ipc
