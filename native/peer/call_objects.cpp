// Scenario `call` with objects: the client encodes, calls and decodes; the server decodes, answers and encodes. Its
// answer is a reply prepared beforehand or, for workload `table`, looked up for each request.
#include "choose_codec.hpp"
#include "connection.hpp"
#include "data.hpp"
#include "measure.hpp"
#include "scenarios.hpp"
#include "table.hpp"

#include <cstring>
#include <optional>

namespace ipc::peer {
namespace {

using codecs::Buffer;

// The objects of a codec for the lab's request and reply ...
template <class Codec>
struct LabObjects {
    using Request = typename Codec::Request;
    using Reply = typename Codec::Reply;
    using DomainRequest = codecs::Request;
    using DomainReply = codecs::Reply;
};
// ... and those of workload `ping`.
struct TextObjects {
    using Request = codecs::Text;
    using Reply = codecs::Text;
    using DomainRequest = codecs::Text;
    using DomainReply = codecs::Text;
};

codecs::Request table_request(const TableQuestion& question) {
    return {0, "table", question.ids, question.fields};
}

// ---- client

template <class Codec, class Objects>
class ObjectCall final : public Operation {
  public:
    using Expected = typename Objects::DomainReply;

    // No `expected` reply: the question has no answer, as `why` says, and the server must find the same.
    ObjectCall(const Cell& cell, Control& control, const typename Objects::DomainRequest& request,
               std::optional<Expected> expected, std::string why)
        : expected_(std::move(expected)), why_(std::move(why)), connection_(Connection::connect(cell, control)) {
        Codec::build(request, request_);
        room_ = received_.make_room(expected_ ? largest_reply(*expected_) : 0);
    }

    Timing once() override {
        Codec::set_sequence(request_, ++sequence_);
        size_t length = 0;
        std::string complaint;
        const int64_t begin_ns = now_ns();
        encode(codec_, request_, encoded_);
        const ipc_status status = ipc_call(connection_.channel(), encoded_.data(), encoded_.size(), room_,
                                           received_.size(), &length, IPC_FOREVER);
        if (status == IPC_OK) complaint = codec_.decode({room_, length}, reply_);
        const int64_t end_ns = now_ns();
        if (status == IPC_BUFFER_TOO_SMALL)
            fail_wrong_content("the reply has " + std::to_string(length) +
                               " bytes, far more than are due: check that both peers got the same workload");
        check(status);
        check_reply(complaint);
        return {end_ns, end_ns - begin_ns, encoded_.size() + length};
    }

  private:
    // Another implementation of the codec may need more bytes for the same object: JSON text at most six times as many,
    // a six-character escape for each character.
    size_t largest_reply(const Expected& expected) {
        typename Objects::Reply reply;
        Codec::build(expected, reply);
        constexpr size_t most_growth = 6, room_for_numbers = 64;
        return most_growth * codec_.size(reply) + room_for_numbers;
    }

    void check_reply(const std::string& complaint) const {
        if (!complaint.empty()) fail_wrong_content(complaint);
        if (const uint64_t found = Codec::sequence(reply_); found != sequence_)
            fail_wrong_sequence("reply", found, sequence_);
        if (!expected_) fail_wrong_content("the server answered, though " + why_);
        if (!Codec::same(reply_, *expected_))
            fail_wrong_content(
                "reply " + std::to_string(sequence_) +
                " has not the content that is due: check that both peers got the same workload, seed and table");
    }

    Codec codec_;
    typename Objects::Request request_;
    typename Objects::Reply reply_;
    std::optional<Expected> expected_;
    std::string why_;
    Buffer encoded_;
    Buffer received_;
    uint8_t* room_ = nullptr; // of received_
    Connection connection_;
    uint64_t sequence_ = 0;
};

// ---- server

// The same reply to every request; requests are checked against the one that is due.
template <class Codec, class Objects>
class PreparedAnswer {
  public:
    PreparedAnswer(typename Objects::DomainRequest expected, const typename Objects::DomainReply& reply)
        : expected_(std::move(expected)) {
        Codec::build(reply, reply_);
    }
    std::string answer(const typename Objects::Request&) { return {}; }
    typename Objects::Reply& reply() { return reply_; }
    bool is_due(const typename Objects::Request& request) const { return Codec::same(request, expected_); }

  private:
    typename Objects::DomainRequest expected_;
    typename Objects::Reply reply_;
};

template <class Codec>
class TableAnswer {
  public:
    explicit TableAnswer(const TableQuestion& question) : table_(question), expected_(table_request(question)) {}
    std::string answer(const typename Codec::Request& request) {
        std::string complaint = table_.find(Codec::ids(request), Codec::fields(request), &cells_);
        if (complaint.empty()) Codec::set_cells(reply_, static_cast<uint32_t>(Codec::fields(request).size()), cells_);
        return complaint;
    }
    typename Codec::Reply& reply() { return reply_; }
    bool is_due(const typename Codec::Request& request) const { return Codec::same(request, expected_); }

  private:
    Table table_;
    codecs::Request expected_;
    std::vector<std::string_view> cells_;
    typename Codec::Reply reply_;
};

// One request into `received`, decoded into `request`, and answered; the reply is encoded in place where the transport
// can.
template <class Codec, class Request, class Answer>
void serve_one(ipc_channel* channel, Codec& codec, RequestInPlace bytes, Buffer& received, Request& request,
               Answer& answer) {
    uint8_t* own = received.make_room(bytes.size);
    if (bytes.size > 0) std::memcpy(own, bytes.data, bytes.size);
    if (const std::string complaint = codec.decode(received.bytes(), request); !complaint.empty())
        refuse(channel, "WRONG_CONTENT", complaint);
    if (const std::string complaint = answer.answer(request); !complaint.empty())
        refuse(channel, "HANDLER_FAILED", complaint);

    auto& reply = answer.reply();
    Codec::set_sequence(reply, Codec::sequence(request));
    const size_t size = codec.size(reply);
    void* room = nullptr;
    check(ipc_reserve_reply(channel, size, &room, IPC_FOREVER));
    codec.write(reply, static_cast<uint8_t*>(room));
    check(ipc_commit_reply(channel, size, IPC_FOREVER));
}

template <class Codec, class Request, class Answer>
void serve(const Cell& cell, Control& control, Answer answer) {
    Codec codec;
    Request request;
    Buffer received;
    serve_requests(cell, control, [&](ipc_channel* channel, const RequestInPlace& bytes, uint64_t number) {
        serve_one(channel, codec, bytes, received, request, answer);
        if (const uint64_t found = Codec::sequence(request); found != number)
            fail_wrong_sequence("request", found, number);
        if (!answer.is_due(request))
            fail_wrong_content(
                "request " + std::to_string(number) +
                " has not the content that is due: check that both peers got the same workload and seed");
    });
}

void check_workload(const Cell& cell) {
    const Workload& workload = cell.workload;
    if (cell.is_text() && cell.codec != codecs::Json::id)
        fail_bad_cell("workload '" + workload.id + "' carries texts: use codec raw or json, not " + cell.codec);
    if (!cell.is_text() && !workload.table && workload.ids == 0)
        fail_bad_cell("workload '" + workload.id + "' has no n, so no objects: use codec raw");
}

} // namespace

void call_objects_client(const Cell& cell, Control& control) {
    check_workload(cell);
    const auto run = [&]<class Codec, class Objects>(const typename Objects::DomainRequest& request,
                                                     std::optional<typename Objects::DomainReply> expected,
                                                     std::string why = {}) {
        play_client<ObjectCall<Codec, Objects>>(cell, control, request, std::move(expected), std::move(why));
    };
    const Workload& workload = cell.workload;
    if (cell.is_text()) {
        run.template operator()<codecs::Json, TextObjects>({0, workload.text[0]}, codecs::Text{0, workload.text[1]});
        return;
    }
    choose_codec(cell.codec, [&]<class Codec>() {
        if (!workload.table) {
            run.template operator()<Codec, LabObjects<Codec>>(make_request(cell.seed, workload.ids),
                                                              make_reply(cell.seed, workload.ids));
            return;
        }
        std::vector<std::string_view> cells;
        const Table table(*workload.table);
        const std::string why = table.find(workload.table->ids, workload.table->fields, &cells);
        std::optional<codecs::Reply> expected;
        if (why.empty())
            expected = {0, static_cast<uint32_t>(workload.table->fields.size()), {cells.begin(), cells.end()}};
        run.template operator()<Codec, LabObjects<Codec>>(table_request(*workload.table), std::move(expected), why);
    });
}

void call_objects_server(const Cell& cell, Control& control) {
    check_workload(cell);
    const Workload& workload = cell.workload;
    if (cell.is_text()) {
        using Answer = PreparedAnswer<codecs::Json, TextObjects>;
        serve<codecs::Json, codecs::Text>(cell, control, Answer({0, workload.text[0]}, {0, workload.text[1]}));
        return;
    }
    choose_codec(cell.codec, [&]<class Codec>() {
        using Request = typename Codec::Request;
        if (workload.table) {
            serve<Codec, Request>(cell, control, TableAnswer<Codec>(*workload.table));
            return;
        }
        using Answer = PreparedAnswer<Codec, LabObjects<Codec>>;
        serve<Codec, Request>(cell, control,
                              Answer(make_request(cell.seed, workload.ids), make_reply(cell.seed, workload.ids)));
    });
}

} // namespace ipc::peer
