// Part of every test program for Windows, also of those that know the library by its public headers alone.
#include "../src/win32/wine.hpp"

#include <gtest/gtest.h>
#include <windows.h>

namespace ipc::test {
namespace {

// Wine 8 kills a process that ends while one of its threads is just ending by itself, with SIGSEGV and after all was done
// (docs/windows.md, "Beginnings and ends of processes"). What a test closed last may have such threads in rpcrt4, for which nobody can wait.
class QuietEnd final : public testing::Environment {
  public:
    void TearDown() override {
        if (win32::under_wine()) Sleep(50);
    }
};

[[maybe_unused]] const auto* const quiet_end = testing::AddGlobalTestEnvironment(new QuietEnd);

} // namespace
} // namespace ipc::test
