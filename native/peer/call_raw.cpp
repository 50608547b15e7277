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

RawExchange::RawExchange(const Cell& cell) : payloads_(cell), received_(payloads_.reply.size() + room_for_too_much) {}

void RawExchange::call(ipc_channel* channel) {
    length_ = 0;
    status_ = ipc_call(channel, payloads_.request.data(), payloads_.request.size(), received_.data(), received_.size(),
                       &length_, IPC_FOREVER);
    if (status_ != IPC_OK && status_ != IPC_BUFFER_TOO_SMALL)
        check(status_); // here: the error message is this thread's
}

uint64_t RawExchange::check_reply() {
    if (status_ == IPC_BUFFER_TOO_SMALL) fail_wrong_content(wrong_length("reply", length_, payloads_.reply.size()));
    const std::span reply(received_.data(), length_);
    check_bytes("reply", reply, payloads_.reply);
    spoil(reply);
    return payloads_.request.size() + length_;
}

Timing call_once(RawExchange& exchange, const Cell& cell, Control& control) {
    exchange.prepare();
    const int64_t begin_ns = now_ns();
    {
        const Connection connection = Connection::connect(cell, control);
        exchange.call(connection.channel());
    }
    const int64_t end_ns = now_ns();
    return {end_ns, end_ns - begin_ns, exchange.check_reply()};
}

namespace {

class RawCall final : public Operation {
  public:
    RawCall(const Cell& cell, Control& control) : exchange_(cell), connection_(Connection::connect(cell, control)) {}

    Timing once() override {
        exchange_.prepare();
        const int64_t begin_ns = now_ns();
        exchange_.call(connection_.channel());
        const int64_t end_ns = now_ns();
        return {end_ns, end_ns - begin_ns, exchange_.check_reply()};
    }

  private:
    RawExchange exchange_;
    Connection connection_;
};

} // namespace

RawAnswers::RawAnswers(const Cell& cell) : payloads_(cell), received_(payloads_.request.size()) {
    payloads_.stamp(1);
}

bool RawAnswers::once(ipc_channel* channel, uint64_t number) {
    RequestInPlace request;
    if (!has_arrived(ipc_receive_request(channel, &request.data, &request.size, IPC_FOREVER))) return false;
    if (ends_by_word_ && request.size == 0) {
        check(ipc_reply(channel, nullptr, 0, IPC_FOREVER));
        return once(channel, number);
    }
    answer(channel, request, number);
    payloads_.stamp(number + 1);
    return true;
}

// Copies the request, answers it with the prepared reply and only then looks whether it was right.
void RawAnswers::answer(ipc_channel* channel, const RequestInPlace& request, uint64_t sequence) {
    if (request.size != received_.size())
        refuse(channel, "WRONG_CONTENT", wrong_length("request", request.size, received_.size()));
    if (request.size > 0) std::memcpy(received_.data(), request.data, request.size);
    // The reply was stamped while we waited; it is stamped anew only for a request out of turn, which is then found wrong. Read where the request
    // lies: a processor stands still until a copy's last bytes have left its queue of stores.
    uint64_t asked = sequence;
    if (payloads_.sequenced && request.size >= sizeof asked) std::memcpy(&asked, request.data, sizeof asked);
    if (asked != sequence) stamp_sequence(payloads_.reply, asked);
    check(ipc_reply(channel, payloads_.reply.data(), payloads_.reply.size(), IPC_FOREVER));
    check_bytes("request", received_, payloads_.request);
    spoil(received_);
}

void call_raw_client(const Cell& cell, Control& control) {
    play_client<RawCall>(cell, control);
}

void call_raw_server(const Cell& cell, Control& control) {
    RawAnswers answers(cell);
    serve_client(cell, control, [&](ipc_channel* channel, uint64_t number) { return answers.once(channel, number); });
}

} // namespace ipc::peer
