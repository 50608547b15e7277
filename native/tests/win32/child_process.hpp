#pragma once

#include "../core/channels.hpp"
#include "win32/handle.hpp"

#include <gtest/gtest.h>
#include <string>
#include <windows.h>

using ipc::test::unique_address;

// A process to be killed: this test program again, running one test whose name begins with DISABLED_, which only this asks for.
// It finds what it is to work on in child_parameter().
class ChildProcess {
  public:
    ChildProcess(const std::string& test, const std::string& parameter) {
        char self[MAX_PATH];
        GetModuleFileNameA(nullptr, self, MAX_PATH);
        std::string command =
            "\"" + std::string(self) + "\" --gtest_also_run_disabled_tests --gtest_brief=1 --gtest_filter=" + test;
        SetEnvironmentVariableA("IPC_TEST_CHILD", parameter.c_str());
        STARTUPINFOA how{};
        how.cb = sizeof how;
        PROCESS_INFORMATION made{};
        EXPECT_TRUE(CreateProcessA(nullptr, command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &how, &made))
            << "cannot start " << command << ": " << GetLastError();
        process_.reset(made.hProcess);
        const ipc::win32::Handle thread(made.hThread);
    }
    ~ChildProcess() { kill(); }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    // Outright, wherever it is; returns when it is gone.
    void kill() {
        if (!process_) return;
        TerminateProcess(process_.get(), 9);
        wait();
        process_.reset();
    }
    void wait() { EXPECT_EQ(WAIT_OBJECT_0, WaitForSingleObject(process_.get(), 20'000)) << "the child does not end"; }

  private:
    ipc::win32::Handle process_;
};

inline std::string child_parameter() {
    char text[300] = {};
    GetEnvironmentVariableA("IPC_TEST_CHILD", text, sizeof text);
    return text;
}
