#include "ping_pong.hpp"

#include <exception>
#include <system_error>
#include <windows.h>

namespace floors {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), what);
}

} // namespace

void pin_to(int cpu) {
    if (cpu < 0) return;
    if (cpu >= 64 || SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << cpu) == 0)
        fail("cannot pin to the CPU asked for");
}

Shared::Shared(size_t bytes) : size_(bytes) {
    bytes_ = static_cast<char*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    if (bytes_ == nullptr) fail("cannot allocate memory");
}

Shared::~Shared() {
    VirtualFree(bytes_, 0, MEM_RELEASE);
}

// Windows has no fork: the partner is a thread. Between two processors the memory system does not tell a thread from a
// process; where both share one processor, a change of process would cost a little more.
Partner::Partner(int cpu, std::function<void()> work)
    : thread_([this, cpu, work = std::move(work)] {
          try {
              pin_to(cpu);
              work();
          } catch (const std::exception&) {
              failed_ = true;
          }
      }) {}

Partner::~Partner() {
    // A thread cannot be killed as a process can: whoever fails while it runs is about to end this program. It is kept and not
    // detached: docs/windows.md, "Threads that nobody waits for".
    if (thread_.joinable()) static_cast<void>(new std::thread(std::move(thread_)));
}

bool Partner::join() {
    thread_.join();
    return !failed_;
}

} // namespace floors
