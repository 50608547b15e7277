// Scenario `call` with codec `raw`: bytes as they are. Both ends copy what they receive into memory of their own.
#include "call_raw.hpp"

#include "data.hpp"
#include "failure.hpp"
#include "scenarios.hpp"

#include <cstring>

namespace ipc::peer {

RawPayloads::RawPayloads(const Cell& cell) : sequenced(!cell.is_text()) {
    const Workload& workload = cell.workload;
    if (workload.table) fail_bad_cell("workload '" + workload.id + "' asks with objects: use another codec than raw");
    if (sequenced) {
        request = raw_payload(cell.seed, workload.request_bytes);
        reply = raw_payload(cell.seed + 1, workload.reply_bytes);
    } else {
        request.assign(workload.text[0].begin(), workload.text[0].end());
        reply.assign(workload.text[1].begin(), workload.text[1].end());
    }
}

void RawPayloads::stamp(uint64_t sequence) {
    if (!sequenced) return;
    stamp_sequence(request, sequence);
    stamp_sequence(reply, sequence);
}

RawExchange::RawExchange(const Cell& cell, Control& control)
    : payloads_(cell), received_(payloads_.reply.size() + room_for_too_much),
      connection_(Connection::connect(cell, control)) {}

void RawExchange::call() {
    length_ = 0;
    status_ = ipc_call(connection_.channel(), payloads_.request.data(), payloads_.request.size(), received_.data(),
                       received_.size(), &length_, IPC_FOREVER);
    if (status_ != IPC_OK && status_ != IPC_BUFFER_TOO_SMALL)
        check(status_); // here: the error message is this thread's
}

uint64_t RawExchange::check_reply() {
    if (status_ == IPC_BUFFER_TOO_SMALL)
        fail_wrong_content("the reply has " + std::to_string(length_) + " bytes where " +
                           std::to_string(payloads_.reply.size()) +
                           " are due: check that both peers got the same workload");
    const std::span reply(received_.data(), length_);
    check_bytes("reply", reply, payloads_.reply);
    spoil(reply);
    return payloads_.request.size() + length_;
}

namespace {

class RawCall final : public Operation {
  public:
    RawCall(const Cell& cell, Control& control) : exchange_(cell, control) {}

    Timing once() override {
        exchange_.prepare();
        const int64_t begin_ns = now_ns();
        exchange_.call();
        const int64_t end_ns = now_ns();
        return {end_ns, end_ns - begin_ns, exchange_.check_reply()};
    }

  private:
    RawExchange exchange_;
};

// Copies a request into `received`, answers it with the prepared reply and only then looks whether it was right.
void answer(ipc_channel* channel, const RequestInPlace& request, std::vector<uint8_t>& received, RawPayloads& payloads,
            uint64_t sequence) {
    if (request.size != received.size())
        refuse(channel, "WRONG_CONTENT",
               "the request has " + std::to_string(request.size) + " bytes where " + std::to_string(received.size()) +
                   " are due: check that both peers got the same workload");
    if (request.size > 0) std::memcpy(received.data(), request.data, request.size);
    // The reply was stamped while we waited; it is stamped anew only for a request out of turn, which is then found wrong.
    uint64_t asked = sequence;
    if (payloads.sequenced && request.size >= sizeof asked) std::memcpy(&asked, received.data(), sizeof asked);
    if (asked != sequence) stamp_sequence(payloads.reply, asked);
    check(ipc_reply(channel, payloads.reply.data(), payloads.reply.size(), IPC_FOREVER));
    check_bytes("request", received, payloads.request);
    spoil(received);
}

} // namespace

void call_raw_client(const Cell& cell, Control& control) {
    play_client<RawCall>(cell, control);
}

void call_raw_server(const Cell& cell, Control& control) {
    RawPayloads payloads(cell);
    std::vector<uint8_t> received(payloads.request.size());
    payloads.stamp(1);
    serve_requests(cell, control, [&](ipc_channel* channel, const RequestInPlace& request, uint64_t number) {
        answer(channel, request, received, payloads, number);
        payloads.stamp(number + 1);
    });
}

} // namespace ipc::peer
