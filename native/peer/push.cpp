// Scenario `push`: messages whose receiver only confirms, with one byte for each or for so many, that it has them. Where a transport has calls only, the
// message is a request and the confirmation its reply.
#include "connection.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <algorithm>
#include <vector>

namespace ipc::peer {
namespace {

constexpr uint8_t push_confirmation = 0x06;

class Push final : public Operation {
  public:
    Push(const Cell& cell, Control& control)
        : message_(raw_payload(cell.seed, cell.workload.request_bytes)), bucket_(cell.workload.bucket),
          by_call_(cell.transport_kind() == "call"), connection_(Connection::connect(cell, control)) {}

    Timing once() override {
        stamp_sequence(message_, ++sequence_);
        uint8_t answer = 0;
        size_t length = 0;
        const int64_t begin_ns = now_ns();
        for (size_t more = bucket_; --more > 0;) {
            check(ipc_send(connection_.channel(), message_.data(), message_.size(), IPC_FOREVER));
            stamp_sequence(message_, ++sequence_);
        }
        const ipc_status status = push(&answer, &length);
        const int64_t end_ns = now_ns();
        if (status != IPC_BUFFER_TOO_SMALL) check(status);
        if (length != sizeof answer || answer != push_confirmation)
            fail_wrong_content(
                "message " + std::to_string(sequence_) +
                " was confirmed by something else than the byte 0x06: check that the server plays scenario push");
        return {end_ns, end_ns - begin_ns, bucket_ * message_.size() + length};
    }

  private:
    ipc_status push(uint8_t* answer, size_t* length) {
        ipc_channel* const channel = connection_.channel();
        if (by_call_)
            return ipc_call(channel, message_.data(), message_.size(), answer, sizeof *answer, length, IPC_FOREVER);
        const ipc_status status = ipc_send(channel, message_.data(), message_.size(), IPC_FOREVER);
        return status ? status : ipc_receive(channel, answer, sizeof *answer, length, IPC_FOREVER);
    }

    std::vector<uint8_t> message_;
    size_t bucket_; // messages of one confirmation
    bool by_call_;
    Connection connection_;
    uint64_t sequence_ = 0;
};

// The server's end: receives into memory of its own, then confirms.
class PushReceiver {
  public:
    PushReceiver(ipc_channel* channel, bool by_call) : channel_(channel), by_call_(by_call) {}

    // As ipc_receive.
    ipc_status receive(std::vector<uint8_t>& to, size_t* length) {
        if (!by_call_) return ipc_receive(channel_, to.data(), to.size(), length, IPC_FOREVER);
        const void* message = nullptr;
        const ipc_status status = ipc_receive_request(channel_, &message, length, IPC_FOREVER);
        if (status != IPC_OK) return status;
        if (*length > to.size()) return IPC_BUFFER_TOO_SMALL;
        std::copy_n(static_cast<const uint8_t*>(message), *length, to.data());
        return IPC_OK;
    }

    ipc_status confirm() {
        return by_call_ ? ipc_reply(channel_, &push_confirmation, sizeof push_confirmation, IPC_FOREVER)
                        : ipc_send(channel_, &push_confirmation, sizeof push_confirmation, IPC_FOREVER);
    }

  private:
    ipc_channel* channel_;
    bool by_call_;
};

void check_bucket(const Cell& cell) {
    if (cell.workload.bucket > 1 && cell.transport_kind() == "call")
        fail_bad_cell("workload '" + cell.workload.id + "' has one confirmation for " +
                      std::to_string(cell.workload.bucket) +
                      " messages: a transport of calls confirms each, so take a channel");
}

} // namespace

void push_client(const Cell& cell, Control& control) {
    check_bucket(cell);
    play_client<Push>(cell, control);
}

void push_server(const Cell& cell, Control& control) {
    check_bucket(cell);
    std::vector<uint8_t> expected = raw_payload(cell.seed, cell.workload.request_bytes);
    std::vector<uint8_t> received(expected.size());
    const bool by_call = cell.transport_kind() == "call";
    serve_client(cell, control, [&](ipc_channel* channel, uint64_t number) {
        PushReceiver receiver(channel, by_call);
        const size_t bucket = cell.workload.bucket;
        for (size_t i = 1; i <= bucket; ++i) {
            size_t length = 0;
            const ipc_status status = receiver.receive(received, &length);
            if (status == IPC_BUFFER_TOO_SMALL)
                fail_wrong_content("a message of " + std::to_string(length) + " bytes came where " +
                                   std::to_string(expected.size()) +
                                   " are due: check that both peers got the same workload");
            if (i == 1 && !has_arrived(status)) return false;
            check(status); // nobody closes in order between two messages of one confirmation
            if (i == bucket) check(receiver.confirm());
            stamp_sequence(expected, (number - 1) * bucket + i);
            check_bytes("message", {received.data(), length}, expected);
            spoil(received);
        }
        return true;
    });
}

} // namespace ipc::peer
