// The library against another process of the library that is stopped and killed at any instruction: nothing may last longer than
// its time-out, and the death must show, also to somebody who only polls.
//
// An input: a byte that chooses the transport, one for how the run ends, then four bytes for each step: of this process, of the
// child, or of what is done to the child.
#include "end.hpp"
#include "finding.hpp"
#include "input.hpp"
#include "transports.hpp"
#include "worker.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using fuzz::End;
using fuzz::finding;
using fuzz::Operation;
using fuzz::Step;

constexpr size_t most_steps = 40;
constexpr int64_t step_ms = 6;

enum class Whose : uint8_t { ours, childs, act };
enum class Act : uint8_t { stop, go_on, kill, pause, count };

struct Decoded {
    Whose whose;
    Step step;
    Act act;
};

std::vector<Decoded> decode(fuzz::Input& input, fuzz::Flavour flavour) {
    std::vector<Decoded> steps;
    while (steps.size() < most_steps && !input.empty()) {
        const uint8_t what = input.byte();
        Step step{fuzz::operation_of(what / 4u), input.byte(), input.byte(), input.byte()};
        const Whose whose = what % 4 == 3 ? Whose::act : what % 4 == 2 ? Whose::childs : Whose::ours;
        step.operation = fuzz::in_flavour(step.operation, flavour, whose == Whose::childs ? 0 : 1);
        steps.push_back({whose, step, static_cast<Act>(what / 4 % static_cast<uint8_t>(Act::count))});
    }
    return steps;
}

// The child's whole life: it connects, does its steps, and waits to be killed.
[[noreturn]] void be_the_child(const char* address, size_t limit, const std::vector<Decoded>& steps, int accepted) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // also while it is stopped
    ipc_channel* channel = nullptr;
    if (ipc_connect(address, 10'000, &channel) != IPC_OK) finding("the child cannot connect: %s", ipc_last_error());
    // Who leaves before is dropped rather than accepted.
    char byte = 0;
    (void)!read(accepted, &byte, 1);
    close(accepted);
    fuzz::Session session;
    session.limit = limit;
    for (auto& wire : session.wire) wire.expect_anything();
    End end(session, 0, channel);
    for (const Decoded& one : steps)
        if (one.whose == Whose::childs) end.perform(one.step);
    while (true) pause();
}

// The other process; gone when this is.
class Child {
  public:
    explicit Child(pid_t process) : process_(process) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { kill(); }
    void stop() const {
        if (process_ > 0) ::kill(process_, SIGSTOP);
    }
    void go_on() const {
        if (process_ > 0) ::kill(process_, SIGCONT);
    }
    void kill() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        int status = 0;
        // libFuzzer's timer interrupts it now and then.
        while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
            finding("the child has ended by itself (%d), which only a finding of its own makes it do", status);
    }

  private:
    pid_t process_;
};

} // namespace

// libFuzzer calls this by name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 6) return -1;
    static auto* worker = new fuzz::Worker;
    fuzz::Input input(data, size);
    const fuzz::Variant& variant = fuzz::variant(input.byte());
    const uint8_t ending = input.byte();
    const std::vector<Decoded> steps = decode(input, fuzz::flavour_of(ending));
    fuzz::clear_trace();
    fuzz::trace("---- %s?%s", variant.transport, variant.options);
    ipc_listener* listener = fuzz::listener_of(variant);
    const std::string address = ipc_listener_address(listener);

    int accepted[2];
    if (pipe2(accepted, O_CLOEXEC) != 0) finding("there is no pipe: %s", std::strerror(errno));
    const pid_t process = fork();
    if (process == 0) be_the_child(address.c_str(), variant.limit, steps, accepted[0]);
    if (process < 0) finding("there is no room for a child: %s", std::strerror(errno));
    Child child(process);
    ipc_channel* channel = nullptr;
    if (ipc_accept(listener, 10'000, &channel) != IPC_OK)
        finding("%s does not accept: %s", variant.transport, ipc_last_error());
    (void)!write(accepted[1], "", 1);
    close(accepted[0]);
    close(accepted[1]);
    fuzz::Session session;
    session.limit = variant.limit;
    for (auto& wire : session.wire) wire.expect_anything();
    End end(session, 1, channel);
    for (const Decoded& one : steps) {
        if (one.whose == Whose::ours) {
            worker->give([&end, step = one.step] { end.perform(step); });
            worker->wait_idle(step_ms);
        } else if (one.whose == Whose::act) {
            switch (one.act) {
            case Act::stop:
                fuzz::trace("the child is stopped");
                child.stop();
                break;
            case Act::go_on:
                fuzz::trace("the child goes on");
                child.go_on();
                break;
            case Act::kill:
                if (one.step.size < 192) break; // less often than the others
                fuzz::trace("the child is killed");
                session.closing[0] = true;
                child.kill();
                break;
            default:
                std::this_thread::sleep_for(std::chrono::microseconds(one.step.size * 20));
                break;
            }
        }
    }
    // Whatever has a time-out must come back while the child is still there, perhaps stopped.
    const bool idle = worker->wait_idle_or([&] { return end.waits_without_end(); });
    session.closing[0] = true;
    fuzz::trace("the child is killed");
    child.kill();
    if (idle && ending % 4 == 0) worker->give([&end] { end.poll_until_end(); });
    if (ending % 2 == 0) worker->wait_idle(3000);
    end.close_from_elsewhere();
    worker->wait_idle();
    end.free_from_elsewhere(true);
    return 0;
}
