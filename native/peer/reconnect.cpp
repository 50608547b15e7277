// Scenario `reconnect`: raw calls, each over a connection of its own; and `startup`: a process that makes one of them.
#include "call_raw.hpp"
#include "scenarios.hpp"

#include <nlohmann/json.hpp>

namespace ipc::peer {
namespace {

class ReconnectingCall final : public Operation {
  public:
    ReconnectingCall(const Cell& cell, Control& control) : cell_(cell), control_(control), exchange_(cell) {}

    Timing once() override { return call_once(exchange_, cell_, control_); }

  private:
    const Cell& cell_;
    Control& control_;
    RawExchange exchange_;
};

} // namespace

void reconnect_client(const Cell& cell, Control& control) {
    play_client<ReconnectingCall>(cell, control);
    // A connection that is closed before the server has accepted it is none: the last one has a call, too, of nothing.
    const Connection last = Connection::connect(cell, control);
    size_t length = 0;
    check(ipc_call(last.channel(), nullptr, 0, nullptr, 0, &length, IPC_FOREVER));
}

void reconnect_server(const Cell& cell, Control& control) {
    RawAnswers answers(cell);
    answers.end_by_word();
    serve_connections(cell, control,
                      [&](ipc_channel* channel, uint64_t number) { return answers.once(channel, number); });
}

void startup_client(const Cell& cell, Control& control) {
    RawExchange exchange(cell);
    const Timing first = call_once(exchange, cell, control);
    // The runner's clock has been running since before this process was: nothing may come between the reply and this.
    control.emit({{"event", "measured"},
                  {"operations", 1},
                  {"elapsed_ns", first.took_ns},
                  {"bytes", first.bytes},
                  {"usage_before", nullptr},
                  {"usage_after", nullptr}});
}

} // namespace ipc::peer
