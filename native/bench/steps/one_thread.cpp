// What each step costs when nothing has to cross between cores: one thread plays both ends of a `shm` connection.
#include "core/session_over.hpp"
#include "pair.hpp"
#include "transports/shm/ring_reader.hpp"
#include "transports/shm/ring_writer.hpp"
#include "transports/shm/shm_channel.hpp"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstring>
#include <ipc/ring.hpp>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using ipc::Deadline;
using ipc::shared_memory::WaitMode;

namespace {

void clock_read(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(std::chrono::steady_clock::now());
}
BENCHMARK(clock_read);

// A second reserve replaces the first, so that reserving alone can be repeated.
void abi_reserve(benchmark::State& state) {
    Channels pair("wait=spin");
    const auto length = static_cast<size_t>(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(pair.client.reserve(length));
}
BENCHMARK(abi_reserve)->ArgName("bytes")->Arg(32)->Arg(1000)->Arg(10000);

// Peeking again gives the same message: a peek without the release that would need another message.
void abi_peek(benchmark::State& state) {
    Channels pair("wait=spin");
    pair.client.send("x");
    for (auto _ : state) benchmark::DoNotOptimize(pair.server.peek());
}
BENCHMARK(abi_peek);

void ring_reserve_commit_take(benchmark::State& state) {
    Links segments(WaitMode::spin);
    ipc::shm::RingWriter writer(*segments.client);
    ipc::shm::RingReader reader(*segments.server);
    const Deadline forever(IPC_FOREVER);
    const auto length = static_cast<size_t>(state.range(0));
    for (auto _ : state) {
        ipc::check(writer.wait_for_slots(length, forever));
        benchmark::DoNotOptimize(writer.slot_room());
        writer.publish_in_slots(1, 0, length);
        ipc::shm::RingReader::Record record;
        ipc::check(reader.wait_for_record(&record, forever));
        benchmark::DoNotOptimize(record.bytes);
        reader.consume(record);
    }
}
BENCHMARK(ring_reserve_commit_take)->ArgName("bytes")->Arg(32)->Arg(64)->Arg(1000);

// The same with the fence after publishing, which a reader that may sleep makes necessary.
void ring_reserve_commit_take_with_fence(benchmark::State& state) {
    Links segments(WaitMode::adaptive);
    ipc::shm::RingWriter writer(*segments.client);
    ipc::shm::RingReader reader(*segments.server);
    const Deadline forever(IPC_FOREVER);
    for (auto _ : state) {
        ipc::check(writer.wait_for_slots(32, forever));
        writer.publish_in_slots(1, 0, 32);
        ipc::shm::RingReader::Record record;
        ipc::check(reader.wait_for_record(&record, forever));
        reader.consume(record);
    }
}
BENCHMARK(ring_reserve_commit_take_with_fence);

// ipc/ring.hpp, which has no boundary and checks nothing.
template <size_t bytes>
void ring_header(benchmark::State& state) {
    struct Message {
        std::byte of[bytes];
    };
    using Ring = ipc::SpscRing<Message>;
    constexpr size_t slots = 256;
    const std::unique_ptr<std::byte[]> zeros(new std::byte[Ring::bytes(slots) + 128]{});
    void* memory = zeros.get();
    size_t room = Ring::bytes(slots) + 128;
    std::align(128, Ring::bytes(slots), memory, room);
    typename Ring::Writer writer(memory, slots);
    typename Ring::Reader reader(memory, slots);
    Message message{}, got;
    for (auto _ : state) {
        benchmark::DoNotOptimize(writer.try_push(message));
        benchmark::DoNotOptimize(reader.try_pop(got));
        benchmark::ClobberMemory();
    }
}
BENCHMARK(ring_header<32>);
BENCHMARK(ring_header<56>);
BENCHMARK(ring_header<64>);

void abi_send_receive(benchmark::State& state) {
    Channels pair("wait=spin");
    std::vector<char> message(static_cast<size_t>(state.range(0)), 'm'), buffer(message.size());
    for (auto _ : state) {
        pair.client.send(message.data(), message.size());
        benchmark::DoNotOptimize(pair.server.receive(buffer.data(), buffer.size()));
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(abi_send_receive)->ArgName("bytes")->Arg(0)->Arg(32)->Arg(64)->Arg(1000)->Arg(10'000)->Arg(60'000);

// Nothing is there: what a loop pays that looks at several sources in turn.
void empty_poll(benchmark::State& state, const char* options) {
    Channels pair(options);
    char buffer[64];
    for (auto _ : state) benchmark::DoNotOptimize(pair.server.try_receive(buffer, sizeof buffer, 0).status());
}
BENCHMARK_CAPTURE(empty_poll, spin, "wait=spin");
BENCHMARK_CAPTURE(empty_poll, adaptive, "wait=adaptive");
BENCHMARK_CAPTURE(empty_poll, block, "wait=block");

// A lent message is neither written nor read here: what is left is what lending costs, whatever the size.
void abi_loan(benchmark::State& state) {
    Channels pair("wait=spin&size=16M");
    const auto length = static_cast<size_t>(state.range(0));
    for (auto _ : state) {
        benchmark::DoNotOptimize(pair.client.reserve(length));
        pair.client.commit(length);
        benchmark::DoNotOptimize(pair.server.peek().data);
        pair.server.release();
    }
}
BENCHMARK(abi_loan)->ArgName("bytes")->Arg(64)->Arg(1024)->Arg(65'536)->Arg(1 << 20)->Arg(4 << 20);

void abi_batch(benchmark::State& state) {
    Channels pair("wait=spin");
    const auto count = static_cast<size_t>(state.range(0));
    std::vector<char> messages(32 * count, 'm'), buffer(messages.size());
    std::vector<uint32_t> lengths(count, 32), got(count);
    for (auto _ : state) {
        size_t done = 0;
        ipc::check(ipc_send_batch(pair.client.handle(), messages.data(), lengths.data(), count, &done, IPC_FOREVER));
        ipc::check(ipc_receive_batch(pair.server.handle(), buffer.data(), buffer.size(), got.data(), count, &done,
                                     IPC_FOREVER));
        benchmark::DoNotOptimize(done);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(abi_batch)->ArgName("messages")->Arg(1)->Arg(8)->Arg(64);

// In and out of a queue on one thread, in turns; `queue` and both orders of `ring`.
void queue_in_and_out(benchmark::State& state, const char* transport, const char* options) {
    const std::string address = std::string(transport) + "://bench-" + std::to_string(getpid()) + "?" + options;
    ipc::Queue queue(address);
    std::vector<char> message(static_cast<size_t>(state.range(0)), 'm'), buffer(message.size());
    for (auto _ : state) {
        queue.enqueue(message.data(), message.size());
        benchmark::DoNotOptimize(queue.dequeue(buffer.data(), buffer.size()));
    }
    ipc::Queue::remove(address);
}
BENCHMARK_CAPTURE(queue_in_and_out, queue, "queue", "wait=spin")->ArgName("bytes")->Arg(32)->Arg(1000);
BENCHMARK_CAPTURE(queue_in_and_out, ring_fifo, "ring", "wait=spin")->ArgName("bytes")->Arg(32)->Arg(1000);
BENCHMARK_CAPTURE(queue_in_and_out, ring_lifo, "ring", "wait=spin&order=lifo")->ArgName("bytes")->Arg(32)->Arg(1000);

} // namespace
