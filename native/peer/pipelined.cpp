// Scenario `pipelined`: as call, with so many calls in flight on one channel. Each is timed from before its request is
// encoded and submitted until its reply is there and decoded. A reply is checked against the call that its tag names, so
// that a server may answer in any order.
#include "call_raw.hpp"
#include "choose_codec.hpp"
#include "connection.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <span>
#include <string>
#include <vector>

namespace ipc::peer {
namespace {

using codecs::Buffer;
using codecs::Bytes;

// What one call says and is answered, as bytes ...
class RawForm {
  public:
    explicit RawForm(const Cell& cell) : payloads_(cell) {}

    size_t largest_reply() const {
        constexpr size_t room_for_too_much = 64; // so that a reply a little too long is told apart
        return payloads_.reply.size() + room_for_too_much;
    }
    void prepare(uint64_t sequence) { stamp_sequence(payloads_.request, sequence); }
    Bytes encode() { return payloads_.request; }
    void decode(std::span<uint8_t> reply) { reply_ = reply; }
    void check(uint64_t sequence) {
        stamp_sequence(payloads_.reply, sequence);
        check_bytes("reply", reply_, payloads_.reply);
        spoil(reply_);
    }

  private:
    RawPayloads payloads_;
    std::span<uint8_t> reply_;
};

// ... and as objects of a codec.
template <class Codec>
class ObjectForm {
  public:
    explicit ObjectForm(const Cell& cell) : expected_(make_reply(cell.seed, cell.workload.ids)) {
        Codec::build(make_request(cell.seed, cell.workload.ids), request_);
    }

    // JSON text of another implementation may take six times as many bytes, an escape for each character.
    size_t largest_reply() {
        constexpr size_t most_growth = 6, room_for_numbers = 64;
        typename Codec::Reply reply;
        Codec::build(expected_, reply);
        return most_growth * codec_.size(reply) + room_for_numbers;
    }
    void prepare(uint64_t sequence) { Codec::set_sequence(request_, sequence); }
    Bytes encode() {
        codecs::encode(codec_, request_, encoded_);
        return encoded_.bytes();
    }
    void decode(std::span<uint8_t> reply) { complaint_ = codec_.decode(reply, reply_); }
    void check(uint64_t sequence) const {
        if (!complaint_.empty()) fail_wrong_content(complaint_);
        if (const uint64_t found = Codec::sequence(reply_); found != sequence)
            fail_wrong_sequence("reply", found, sequence);
        if (!Codec::same(reply_, expected_))
            fail_wrong_content(
                "reply " + std::to_string(sequence) +
                " has not the content that is due: check that both peers got the same workload and seed");
    }

  private:
    Codec codec_;
    codecs::Reply expected_;
    typename Codec::Request request_;
    typename Codec::Reply reply_;
    Buffer encoded_;
    std::string complaint_;
};

template <class Form>
class PipelinedCall final : public Operation {
  public:
    PipelinedCall(const Cell& cell, Control& control)
        : form_(cell), received_(form_.largest_reply()), calls_(cell.in_flight),
          connection_(Connection::connect(cell, control)) {
        for (size_t i = 0; i < calls_.size(); ++i) free_.push_back(i);
    }

    Timing once() override {
        while (!free_.empty()) submit();
        return complete();
    }

    void finish() override {
        while (free_.size() < calls_.size()) complete();
    }

  private:
    struct Call {
        uint64_t sequence = 0;
        int64_t begin_ns = 0;
        size_t request_bytes = 0;
    };

    void submit() {
        const size_t tag = free_.back();
        Call& call = calls_[tag];
        call.sequence = ++sequence_;
        form_.prepare(call.sequence);
        call.begin_ns = now_ns();
        const Bytes request = form_.encode();
        call.request_bytes = request.size();
        check(ipc_submit(connection_.channel(), request.data(), request.size(), tag, IPC_FOREVER));
        free_.pop_back();
    }

    Timing complete() {
        uint64_t tag = 0;
        ipc_status outcome = IPC_OK;
        size_t length = 0;
        const ipc_status status = ipc_complete(connection_.channel(), &tag, &outcome, received_.data(),
                                               received_.size(), &length, IPC_FOREVER);
        if (status == IPC_BUFFER_TOO_SMALL)
            fail_wrong_content("the reply has " + std::to_string(length) +
                               " bytes, more than are due: check that both peers got the same workload");
        check(status);
        check(outcome);
        form_.decode({received_.data(), length});
        const int64_t end_ns = now_ns();
        const Call& call = calls_[tag];
        form_.check(call.sequence);
        free_.push_back(tag);
        return {end_ns, end_ns - call.begin_ns, call.request_bytes + length};
    }

    Form form_;
    std::vector<uint8_t> received_;
    std::vector<Call> calls_; // by their tags
    std::vector<size_t> free_;
    uint64_t sequence_ = 0;
    Connection connection_;
};

} // namespace

void pipelined_client(const Cell& cell, Control& control) {
    const Workload& workload = cell.workload;
    if (cell.codec == "raw") {
        constexpr size_t least_bytes = 8; // for the sequence
        if (workload.request_bytes < least_bytes || workload.reply_bytes < least_bytes)
            fail_bad_cell("workload '" + workload.id + "' has messages of less than 8 bytes, which hold no sequence");
        return play_client<PipelinedCall<RawForm>>(cell, control);
    }
    if (workload.ids == 0) fail_bad_cell("workload '" + workload.id + "' has no n, so no objects: use codec raw");
    choose_codec(cell.codec, [&]<class Codec>() { play_client<PipelinedCall<ObjectForm<Codec>>>(cell, control); });
}

} // namespace ipc::peer
