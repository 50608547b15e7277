// The library against a peer that is not the library. Compiled twice:
//   fuzz-stopped-peer   the peer keeps to docs/wire-formats.md, but stops at any step, wakes nobody, and dies;
//   fuzz-shared-memory  (IPC_FUZZ_HOSTILE) it also writes anything anywhere into what both share.
// Frames come whole or in any fragments; every status must be one that fits, nothing may last longer than its time-out, and a
// peer's death must show to somebody who only polls.
//
// An input: a byte that chooses the transport and the library's side, one for how the run ends, then four bytes for each step.
#include "end.hpp"
#include "finding.hpp"
#include "input.hpp"
#include "raw_peer.hpp"
#include "transports.hpp"
#include "worker.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#ifndef IPC_FUZZ_HOSTILE
#    define IPC_FUZZ_HOSTILE 0
#endif

namespace {

using fuzz::End;
using fuzz::finding;
using fuzz::Kind;
using fuzz::Operation;

constexpr size_t most_steps = 50;
constexpr int64_t step_ms = 6;

struct TestedTransport {
    const char* transport;
    const char* options;
    size_t limit;
};

constexpr TestedTransport tested_transports[] = {
#if !IPC_FUZZ_HOSTILE
    {"unix", "max=300k", 300 * 1024},
#endif
    {"shm", "max=300k&size=64k&wait=block", 300 * 1024},
    {"shm", "max=300k&size=64k&spin=10", 300 * 1024},
    {"shm-event", "max=300k", 300 * 1024},
};

const TestedTransport& tested_transport(uint8_t choice) {
    const char* wanted = std::getenv("IPC_FUZZ_TRANSPORT");
    for (size_t i = 0; i < std::size(tested_transports); ++i) {
        const TestedTransport& tested = tested_transports[(choice + i) % std::size(tested_transports)];
        if (wanted == nullptr || std::strcmp(wanted, tested.transport) == 0) return tested;
    }
    finding("IPC_FUZZ_TRANSPORT=%s is none of those fuzzed", wanted);
}

// What the peer may do beside what the library does.
enum class Act : uint8_t { begin, put, put_all, put_silently, take_all, close, die, pause, scribble, count };

struct Run {
    fuzz::Session session;
    unsigned library_side;
    fuzz::Flavour flavour;
    std::unique_ptr<fuzz::RawPeer> peer;
    std::unique_ptr<End> end;
    bool gone = false;
    uint32_t requests = 0;

    // What the connection is for, mostly.
    uint8_t suitable(uint8_t choice) const;
    void begin(uint8_t kind, uint8_t size, uint8_t which);
    void act(Act act, fuzz::Input& input);
};

uint8_t Run::suitable(uint8_t choice) const {
    if (flavour == fuzz::Flavour::mixed || choice >= 240) return choice;
    if (flavour == fuzz::Flavour::messages) return 0;
    if (library_side == 0 && flavour == fuzz::Flavour::in_flight) return choice >= 160 ? 2 : 3;
    return library_side == 1 ? 1 : choice >= 224 ? 2 : 3;
}

void Run::begin(uint8_t kind, uint8_t size, uint8_t which) {
    if (!peer->whole() || gone) return;
    const size_t length = fuzz::size_of(size, session.limit) % (session.limit + 1);
    const uint32_t asked = end->calls();
    // Mostly the answer to the latest call, or to any of those in flight; else to one before, or to one that was never made.
    const auto in_flight = static_cast<uint32_t>(std::min<size_t>(end->in_flight(), asked));
    const uint32_t before = in_flight > 1 ? which % in_flight : 0;
    const uint32_t answered = which < 160 || asked == 0 ? asked - before : which < 250 ? asked - 1 : asked + 1;
    switch (kind % 5) {
    case 0:
        return peer->begin(Kind::message, 0, length);
    case 1:
        return peer->begin(Kind::request, ++requests, length);
    case 2:
        return peer->begin(Kind::fault, answered, 0);
    default:
        return peer->begin(Kind::reply, answered, length);
    }
}

void Run::act(Act act, fuzz::Input& input) {
    const uint8_t first = input.byte(), second = input.byte(), third = input.byte();
    if (gone) return;
    fuzz::trace("peer: %s %u %u %u",
                std::array{"begin", "put", "put all", "put silently", "take all", "close", "die", "pause",
                           "scribble"}[static_cast<size_t>(act)],
                first, second, third);
    switch (act) {
    case Act::begin:
        begin(suitable(first), second, third);
        break;
    case Act::put:
        peer->put(fuzz::size_of(first, session.limit), true);
        break;
    case Act::put_silently:
        peer->put(fuzz::size_of(first, session.limit), false);
        break;
    case Act::put_all:
        for (int i = 0; i < 40 && !peer->put(session.limit, true); ++i) {
        }
        break;
    case Act::take_all:
        peer->take_all();
        break;
    case Act::close:
    case Act::die:
        if (first < 128) return; // less often than the others
        gone = true;
        session.closing[library_side ^ 1] = true;
        if (act == Act::close)
            peer->close();
        else
            peer->die();
        break;
    case Act::pause:
        std::this_thread::sleep_for(std::chrono::milliseconds(first % 4));
        break;
    case Act::scribble: {
        // The place comes of the step's bytes, the value of what follows.
        const size_t bytes = std::array<size_t, 4>{1, 4, 4, 8}[first % 4];
        peer->scribble(uint64_t{first} / 4 << 16 | uint64_t{second} << 8 | third, input.number(bytes), bytes);
        break;
    }
    case Act::count:
        break;
    }
}

} // namespace

// libFuzzer calls this by name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 6) return -1;
    static fuzz::Worker* worker = new fuzz::Worker;
    fuzz::Input input(data, size);
    const uint8_t choice = input.byte(), ending = input.byte();
    const TestedTransport& tested = tested_transport(choice / 2);
    fuzz::clear_trace();
    Run run;
    run.library_side = choice % 2;
    run.flavour = fuzz::flavour_of(ending);
    fuzz::trace("---- %s?%s, the library is the %s", tested.transport, tested.options,
                run.library_side == 0 ? "client" : "server");
    run.session.limit = tested.limit;
    if (IPC_FUZZ_HOSTILE)
        for (auto& wire : run.session.wire) wire.expect_anything();
    static size_t files = 0;
    {
        fuzz::RawConnection made = fuzz::connect_raw(tested.transport, tested.options, tested.limit, run.library_side);
        run.peer = std::move(made.peer);
        run.peer->attach(run.session, run.library_side ^ 1);
        run.end = std::make_unique<End>(run.session, run.library_side, made.library);
        constexpr auto acts = static_cast<uint8_t>(static_cast<uint8_t>(Act::count) - (IPC_FUZZ_HOSTILE ? 0 : 1));
        for (size_t i = 0; i < most_steps && !input.empty(); ++i) {
            const uint8_t what = input.byte();
            if (what % 2 == 1) {
                run.act(static_cast<Act>(what / 2 % acts), input);
                continue;
            }
            const unsigned operation = what / 2 % 32;
            fuzz::Step step{fuzz::operation_of(operation), input.byte(), input.byte(), input.byte()};
            if (operation >= static_cast<unsigned>(Operation::count) || step.operation == Operation::close_elsewhere ||
                step.operation == Operation::free_elsewhere) {
                (void)run.end->free_from_elsewhere(false);
                continue;
            }
            step.operation = fuzz::in_flavour(step.operation, run.flavour, run.library_side);
            worker->give([end = run.end.get(), step] { end->perform(step); });
            if (what < 192) worker->wait_idle(step_ms);
        }
        // Whatever has a time-out must come back while the peer is still there and stopped.
        const bool idle = worker->wait_idle_or([&] { return run.end->waits_without_end(); });
        if (!run.gone) {
            fuzz::trace("peer: dies");
            run.session.closing[run.library_side ^ 1] = true;
            run.peer->die();
        }
        // A call that waits without end finds out by itself, and so does somebody who polls.
        if (idle && ending % 4 == 0) worker->give([end = run.end.get()] { end->poll_until_end(); });
        if (ending % 2 == 0) worker->wait_idle(3000);
        run.end->close_from_elsewhere();
        worker->wait_idle();
        run.end->free_from_elsewhere(true);
        run.peer.reset();
    }
    // Listeners are made at their first use and again for other options: only a rise that goes on is a leak.
    const size_t now = fuzz::open_files();
    static int rises = 0;
    rises = now > files ? rises + 1 : 0;
    if (rises > 20) finding("%zu files are open, more after each connection", now);
    files = now;
    return 0;
}
