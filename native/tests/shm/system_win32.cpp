#include "segment_pair.hpp"

#include <gtest/gtest.h>
#include <string>
#include <windows.h>

void connect_pair(ipc::shared_memory::Connection ends[2]) {
    static std::atomic<unsigned> number{0};
    const std::wstring name = L"\\\\.\\pipe\\ipc-test-" + std::to_wstring(GetCurrentProcessId()) + L"-" +
                              std::to_wstring(number.fetch_add(1));
    ends[0] = CreateNamedPipeW(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                               PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, 4096, 4096, 0, nullptr);
    EXPECT_NE(INVALID_HANDLE_VALUE, ends[0]) << GetLastError();
    ends[1] = CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED,
                          nullptr);
    EXPECT_NE(INVALID_HANDLE_VALUE, ends[1]) << GetLastError();
}

long long thread_time_us() {
    FILETIME created, ended, kernel, user;
    GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user);
    const auto hundred_ns = [](const FILETIME& time) {
        return (static_cast<long long>(time.dwHighDateTime) << 32) | time.dwLowDateTime;
    };
    return (hundred_ns(kernel) + hundred_ns(user)) / 10;
}
