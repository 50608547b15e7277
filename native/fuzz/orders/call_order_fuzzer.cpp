// Calls of the C ABI in any order, on both ends of a connection at the same time, with a third thread that closes, frees and
// calls receivers back: each status must be one that the state allows, each message must be the one that was sent, and nothing
// may last longer than its time-out. What is tried is in end.hpp, what is known in wire.hpp.
//
// An input: a byte that chooses the transport, one for how the run ends, then four bytes for each step.
#include "end.hpp"
#include "finding.hpp"
#include "input.hpp"
#include "transports.hpp"
#include "worker.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <thread>

namespace {

using fuzz::End;
using fuzz::finding;
using fuzz::Operation;
using fuzz::Worker;

constexpr size_t most_steps = 60;
// So long the next step waits for one that is not told to run beside it.
constexpr int64_t step_ms = 6;

struct Threads {
    std::array<Worker, 2> ends;
    Worker closer;
};

Threads& threads() {
    static Threads* all = new Threads;
    return *all;
}

std::array<std::unique_ptr<End>, 2> connect(const fuzz::Variant& variant, fuzz::Session& session) {
    ipc_listener* listener = fuzz::listener_of(variant);
    std::array<ipc_channel*, 2> channels{};
    ipc_status connected = IPC_OK;
    std::string why;
    threads().ends[0].give([&] {
        connected = ipc_connect(ipc_listener_address(listener), 10'000, &channels[0]);
        if (connected != IPC_OK) why = ipc_last_error();
    });
    const ipc_status accepted = ipc_accept(listener, 10'000, &channels[1]);
    if (accepted != IPC_OK) finding("%s does not accept: %s", variant.transport, ipc_last_error());
    threads().ends[0].wait_idle();
    if (connected != IPC_OK) finding("cannot connect to %s: %s", variant.transport, why.c_str());
    return {std::make_unique<End>(session, 0, channels[0]), std::make_unique<End>(session, 1, channels[1])};
}

void elsewhere(End& end, const fuzz::Step& step) {
    switch (step.operation) {
    case Operation::close_elsewhere:
        return end.close_from_elsewhere();
    case Operation::interrupt_elsewhere:
        return end.interrupt_from_elsewhere(step.size);
    default:
        end.free_from_elsewhere(false);
    }
}

void do_steps(fuzz::Input& input, std::array<std::unique_ptr<End>, 2>& ends, fuzz::Flavour flavour) {
    constexpr uint8_t beside = 128; // go on without waiting
    for (size_t i = 0; i < most_steps && !input.empty(); ++i) {
        const uint8_t what = input.byte();
        fuzz::Step step{fuzz::operation_of(what % beside / 2u), input.byte(), input.byte(), input.byte()};
        const unsigned side = what % 2;
        step.operation = fuzz::in_flavour(step.operation, flavour, side);
        Worker* worker = &threads().ends[side];
        switch (step.operation) {
        case Operation::close_elsewhere:
        case Operation::free_elsewhere:
        case Operation::interrupt_elsewhere:
            worker = &threads().closer;
            if (!fuzz::left_out(step.operation))
                worker->give([end = ends[side].get(), step] { elsewhere(*end, step); });
            break;
        default:
            worker->give([end = ends[side].get(), step] { end->perform(step); });
        }
        if ((what & beside) == 0) worker->wait_idle(step_ms);
    }
}

} // namespace

// libFuzzer calls this by name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 6) return -1;
    fuzz::Input input(data, size);
    const fuzz::Variant& variant = fuzz::variant(input.byte());
    const uint8_t ending = input.byte();
    fuzz::clear_trace();
    fuzz::trace("---- %s?%s", variant.transport, variant.options);
    fuzz::listener_of(variant);
    threads();
    const size_t files = fuzz::open_files();
    {
        fuzz::Session session;
        session.limit = variant.limit;
        session.arrives_late = variant.arrives_late;
        session.interruptible = std::strncmp(variant.transport, "shm", 3) == 0;
        std::array<std::unique_ptr<End>, 2> ends = connect(variant, session);
        do_steps(input, ends, fuzz::flavour_of(ending));

        Threads& all = threads();
        all.closer.give([&ends] {
            for (auto& end : ends) end->end_interruption();
        });
        bool both_idle = all.closer.wait_idle(2000); // longer than it may wait for a receiver that was called back
        for (unsigned side : {0u, 1u})
            both_idle &= all.ends[side].wait_idle_or([end = ends[side].get()] { return end->waits_without_end(); });
        if (both_idle && ending % 2 == 0)
            for (unsigned side : {0u, 1u}) {
                all.ends[side].give([end = ends[side].get()] { end->drain(); });
                all.ends[side].wait_idle();
            }
        // Each end is freed by its own thread as soon as that has been woken, or by this one afterwards.
        if (ending % 4 < 2)
            for (unsigned side : {0u, 1u})
                all.ends[side].give([end = ends[side].get()] { end->perform({Operation::free, 0, 0, 0}); });
        for (unsigned side : {0u, 1u}) ends[side ^ (ending / 4 % 2)]->close_from_elsewhere();
        for (Worker* worker : {&all.ends[0], &all.ends[1], &all.closer}) worker->wait_idle();
        for (auto& end : ends) end->free_from_elsewhere(true);
    }
    // What a listener's handshake has open goes a moment after its channel, so also what the last connection left may go during this one.
    if (!fuzz::comes_true([&] { return fuzz::open_files() <= files; }))
        finding("%zu files are open after the connection, %zu were before", fuzz::open_files(), files);
    return 0;
}
