// What crossing between two cores costs: an echo on a thread of its own, and waking a thread that sleeps.
#include "pair.hpp"

#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

class Echo {
  public:
    explicit Echo(const std::string& options)
        : pair_(options), serving_([this] {
              ipc_serve(
                  pair_.server.handle(),
                  [](void*, const void* request, size_t length, ipc_reply_writer* writer) {
                      void* room = nullptr;
                      if (ipc_status s = ipc_reply_reserve(writer, length, &room)) return s;
                      if (length != 0) std::memcpy(room, request, length);
                      return ipc_status{IPC_OK};
                  },
                  nullptr);
          }) {}
    ~Echo() {
        ipc_channel_close(pair_.client.handle());
        serving_.join();
    }
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;

    ipc_channel* client() { return pair_.client.handle(); }

  private:
    Channels pair_;
    std::thread serving_;
};

void call(benchmark::State& state, const char* wait) {
    Echo echo(std::string("wait=") + wait);
    std::vector<char> request(static_cast<size_t>(state.range(0)), 'q'), reply(request.size());
    for (auto _ : state) {
        size_t length = 0;
        ipc::check(
            ipc_call(echo.client(), request.data(), request.size(), reply.data(), reply.size(), &length, IPC_FOREVER));
    }
}
BENCHMARK_CAPTURE(call, spin, "spin")->ArgName("bytes")->Arg(32)->Arg(64)->Arg(1000)->UseRealTime();
BENCHMARK_CAPTURE(call, adaptive, "adaptive")->ArgName("bytes")->Arg(32)->Arg(64)->Arg(1000)->UseRealTime();
BENCHMARK_CAPTURE(call, block, "block")->ArgName("bytes")->Arg(64)->UseRealTime();

// The system call of a wake-up when nobody sleeps: what a sender saves by looking at the parked word first.
void wake_nobody(benchmark::State& state) {
    uint32_t word = 0;
    for (auto _ : state) benchmark::DoNotOptimize(syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0));
}
BENCHMARK(wake_nobody);

} // namespace
