// Scenario `batch`: small objects collected into buckets, each bucket one call. Timed is what batching costs and saves:
// the client encodes each object into a collection, calls, and splits and decodes the replies; the server splits,
// decodes, answers each request and collects the replies.
#include "choose_codec.hpp"
#include "codecs/collection.hpp"
#include "connection.hpp"
#include "data.hpp"
#include "measure.hpp"
#include "raw_objects.hpp"
#include "scenarios.hpp"

#include <cstring>
#include <vector>

namespace ipc::peer {
namespace {

using codecs::Buffer;
using codecs::Bytes;
using codecs::Collector;

// One request and one reply of the bucket, in the form both ends make them of the cell.
template <class Codec>
struct BatchData {
    explicit BatchData(const Cell& cell)
        : request(make_request(cell.seed, cell.workload.ids)), reply(make_reply(cell.seed, cell.workload.ids)) {}
    codecs::Request request;
    codecs::Reply reply;
};
template <>
struct BatchData<RawObjects> {
    explicit BatchData(const Cell& cell)
        : request(raw_payload(cell.seed, cell.workload.request_bytes)),
          reply(raw_payload(cell.seed + 1, cell.workload.reply_bytes)) {}
    std::vector<uint8_t> request;
    std::vector<uint8_t> reply;
};

// Splits a collection into objects that are reused; how many came is `count`.
template <class Codec, class Object>
std::string decode_each(Codec& codec, Bytes collection, std::vector<Object>& objects, size_t& count) {
    count = 0;
    return codecs::split<Codec>(collection, [&](Bytes bytes) -> std::string {
        if (count == objects.size()) return "the collection has more objects than a bucket";
        return codec.decode(bytes, objects[count++]);
    });
}

std::string wrong_number(const char* what, size_t found, size_t expected) {
    return "the bucket has " + std::to_string(found) + " " + what + " where " + std::to_string(expected) +
           " are due: check that both peers got the same workload";
}

template <class Codec>
class BatchCall final : public Operation {
  public:
    BatchCall(const Cell& cell, Control& control)
        : data_(cell), requests_(cell.workload.bucket), replies_(cell.workload.bucket),
          connection_(Connection::connect(cell, control)) {
        for (auto& request : requests_) Codec::build(data_.request, request);
        typename Codec::Reply reply;
        Codec::build(data_.reply, reply);
        // JSON text of another implementation may take six times as many bytes, an escape for each character.
        constexpr size_t most_growth = 6, room_for_numbers = 64;
        room_ = received_.make_room(requests_.size() * (most_growth * codec_.size(reply) + room_for_numbers));
    }

    Timing once() override {
        const uint64_t first = sequence_ + 1;
        for (auto& request : requests_) Codec::set_sequence(request, ++sequence_);
        size_t length = 0, count = 0;
        std::string complaint;
        const int64_t begin_ns = now_ns();
        encoded_.clear();
        for (const auto& request : requests_) append(codec_, request, encoded_);
        const ipc_status status = ipc_call(connection_.channel(), encoded_.data(), encoded_.size(), room_,
                                           received_.size(), &length, IPC_FOREVER);
        if (status == IPC_OK) complaint = decode_each(codec_, {room_, length}, replies_, count);
        const int64_t end_ns = now_ns();
        if (status == IPC_BUFFER_TOO_SMALL)
            fail_wrong_content("the bucket of replies has " + std::to_string(length) + " bytes, far more than are due");
        check(status);
        if (!complaint.empty()) fail_wrong_content(complaint);
        if (count != replies_.size()) fail_wrong_content(wrong_number("replies", count, replies_.size()));
        check_replies(first);
        return {end_ns, end_ns - begin_ns, encoded_.size() + length};
    }

  private:
    void check_replies(uint64_t sequence) const {
        for (const auto& reply : replies_) {
            if (const uint64_t found = Codec::sequence(reply); found != sequence)
                fail_wrong_sequence("reply", found, sequence);
            if (!Codec::same(reply, data_.reply))
                fail_wrong_content(
                    "reply " + std::to_string(sequence) +
                    " has not the content that is due: check that both peers got the same workload and seed");
            ++sequence;
        }
    }

    Codec codec_;
    BatchData<Codec> data_;
    std::vector<typename Codec::Request> requests_;
    std::vector<typename Codec::Reply> replies_;
    Collector encoded_;
    Buffer received_;
    uint8_t* room_ = nullptr; // of received_
    Connection connection_;
    uint64_t sequence_ = 0;
};

template <class Codec>
class BatchAnswer {
  public:
    explicit BatchAnswer(const Cell& cell) : data_(cell), requests_(cell.workload.bucket) {
        Codec::build(data_.reply, reply_);
    }

    void operator()(ipc_channel* channel, const RequestInPlace& bucket, uint64_t) {
        uint8_t* own = received_.make_room(bucket.size);
        if (bucket.size > 0) std::memcpy(own, bucket.data, bucket.size);
        size_t count = 0;
        if (const std::string complaint = decode_each(codec_, received_.bytes(), requests_, count); !complaint.empty())
            refuse(channel, "WRONG_CONTENT", complaint);
        if (count != requests_.size())
            refuse(channel, "WRONG_CONTENT", wrong_number("requests", count, requests_.size()));
        encoded_.clear();
        for (const auto& request : requests_) {
            Codec::set_sequence(reply_, Codec::sequence(request));
            append(codec_, reply_, encoded_);
        }
        check(ipc_reply(channel, encoded_.data(), encoded_.size(), IPC_FOREVER));
        check_requests();
    }

  private:
    void check_requests() {
        for (const auto& request : requests_) {
            if (const uint64_t found = Codec::sequence(request); found != ++sequence_)
                fail_wrong_sequence("request", found, sequence_);
            if (!Codec::same(request, data_.request))
                fail_wrong_content(
                    "request " + std::to_string(sequence_) +
                    " has not the content that is due: check that both peers got the same workload and seed");
        }
    }

    Codec codec_;
    BatchData<Codec> data_;
    std::vector<typename Codec::Request> requests_;
    typename Codec::Reply reply_;
    Buffer received_;
    Collector encoded_;
    uint64_t sequence_ = 0;
};

template <class Play>
void choose(const Cell& cell, Play&& play) {
    const Workload& workload = cell.workload;
    if (cell.codec == RawObjects::id) {
        constexpr size_t least_bytes = 8; // for the sequence
        if (workload.request_bytes < least_bytes || workload.reply_bytes < least_bytes)
            fail_bad_cell("workload '" + workload.id + "' has objects of less than 8 bytes, which hold no sequence");
        return play.template operator()<RawObjects>();
    }
    if (workload.ids == 0) fail_bad_cell("workload '" + workload.id + "' has no n, so no objects: use codec raw");
    choose_codec(cell.codec, std::forward<Play>(play));
}

} // namespace

void batch_client(const Cell& cell, Control& control) {
    choose(cell, [&]<class Codec>() { play_client<BatchCall<Codec>>(cell, control); });
}

void batch_server(const Cell& cell, Control& control) {
    choose(cell, [&]<class Codec>() { serve_requests(cell, control, BatchAnswer<Codec>(cell)); });
}

} // namespace ipc::peer
