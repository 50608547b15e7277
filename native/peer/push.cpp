// Scenario `push`: a message whose receiver only confirms, with one byte, that it has it.
#include "connection.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <vector>

namespace ipc::peer {
namespace {

constexpr uint8_t confirmation = 0x06;

class Push final : public Operation {
  public:
    Push(const Cell& cell, Control& control)
        : message_(raw_payload(cell.seed, cell.workload.request_bytes)),
          connection_(Connection::connect(cell, control)) {}

    Timing once() override {
        stamp_sequence(message_, ++sequence_);
        uint8_t answer = 0;
        size_t length = 0;
        const int64_t begin_ns = now_ns();
        ipc_status status = ipc_send(connection_.channel(), message_.data(), message_.size(), IPC_FOREVER);
        if (status == IPC_OK) status = ipc_receive(connection_.channel(), &answer, sizeof answer, &length, IPC_FOREVER);
        const int64_t end_ns = now_ns();
        if (status != IPC_BUFFER_TOO_SMALL) check(status);
        if (length != sizeof answer || answer != confirmation)
            fail_wrong_content(
                "message " + std::to_string(sequence_) +
                " was confirmed by something else than the byte 0x06: check that the server plays scenario push");
        return {end_ns, end_ns - begin_ns, message_.size() + length};
    }

  private:
    std::vector<uint8_t> message_;
    Connection connection_;
    uint64_t sequence_ = 0;
};

} // namespace

void push_client(const Cell& cell, Control& control) {
    const int64_t begin_ns = now_ns();
    Push push(cell, control);
    run_client(cell, control, push, begin_ns);
}

void push_server(const Cell& cell, Control& control) {
    std::vector<uint8_t> expected = raw_payload(cell.seed, cell.workload.request_bytes);
    std::vector<uint8_t> received(expected.size());
    uint64_t operations = 0;
    {
        const Connection connection = Connection::accept(cell, control);
        size_t length = 0;
        while (true) {
            const ipc_status status =
                ipc_receive(connection.channel(), received.data(), received.size(), &length, IPC_FOREVER);
            if (status == IPC_BUFFER_TOO_SMALL)
                fail_wrong_content("a message of " + std::to_string(length) + " bytes came where " +
                                   std::to_string(expected.size()) +
                                   " are due: check that both peers got the same workload");
            if (!has_arrived(status)) break;
            check(ipc_send(connection.channel(), &confirmation, sizeof confirmation, IPC_FOREVER));
            stamp_sequence(expected, ++operations);
            check_bytes("message", {received.data(), length}, expected);
            spoil(received);
        }
    }
    finish_serving(control, operations);
}

} // namespace ipc::peer
