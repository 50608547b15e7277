// Scenario `serialize`: the codec alone. An operation is five steps, each timed apart, for a request and its reply:
// build the objects, translate them into the codec's own, encode, decode and translate back, traverse what came out.
#include "choose_codec.hpp"
#include "data.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace ipc::peer {
namespace {

using codecs::Buffer;
using codecs::LinkedStrings;

enum Step { build, translate, encode_step, decode_step, traverse, steps };
constexpr const char* step_names[steps] = {"build", "translate", "encode", "decode", "traverse"};

// Writes to every line of more memory than the caches near a core hold, so that they hold nothing else afterwards.
class CacheSweep {
  public:
    void run() {
        constexpr size_t cache_line = 64;
        for (size_t at = 0; at < memory_.size(); at += cache_line) ++memory_[at];
    }

  private:
    std::vector<uint8_t> memory_ = std::vector<uint8_t>(size_t{64} << 20);
};

// The codec's messages where it has some of its own (protobuf): then encoding and translating are steps apart.
template <class Codec>
concept Translates = requires(Codec codec, const typename Codec::Request& request) {
    codec.translate(request);
};

template <class Codec>
class Serialization final : public Operation {
  public:
    Serialization(const Cell& cell, CacheSweep* sweep)
        : sweep_(sweep), request_(make_request(cell.seed, cell.workload.ids)),
          reply_(make_reply(cell.seed, cell.workload.ids)) {}

    Timing once() override {
        request_.sequence = reply_.sequence = ++sequence_;
        Objects objects;
        time(build, [&] { Codec::build(request_, objects.request), Codec::build(reply_, objects.reply); });
        took_[translate] = 0;
        if constexpr (Translates<Codec>)
            convert_messages(objects);
        else
            convert(objects);
        uint64_t sum = 0;
        time(traverse, [&] { sum = Codec::traverse(arrived_.request) + Codec::traverse(arrived_.reply); });
        check_arrived(sum);

        int64_t took_ns = 0;
        for (int step = 0; step < steps; ++step) {
            took_ns += took_[step];
            if (keep_) kept_[step].push_back(took_[step]);
        }
        return {now_ns(), took_ns, encoded_request_.size() + encoded_reply_.size()};
    }

    void keep_steps() { keep_ = true; }

    // Adds the median of every step, under names with this prefix.
    void report(nlohmann::ordered_json& event, const std::string& prefix) {
        for (int step = 0; step < steps; ++step) {
            auto& kept = kept_[step];
            const auto middle = kept.begin() + static_cast<ptrdiff_t>(kept.size() / 2);
            std::nth_element(kept.begin(), middle, kept.end());
            event[prefix + step_names[step] + "_ns"] = *middle;
        }
    }
    size_t request_bytes() const { return encoded_request_.size(); }
    size_t reply_bytes() const { return encoded_reply_.size(); }

  private:
    struct Objects {
        typename Codec::Request request;
        typename Codec::Reply reply;
    };

    template <class Work>
    void time(Step step, Work&& work) {
        if (sweep_) sweep_->run();
        const int64_t begin_ns = now_ns();
        work();
        took_[step] = now_ns() - begin_ns;
    }

    void convert(const Objects& objects) {
        time(encode_step,
             [&] { encode(codec_, objects.request, encoded_request_), encode(codec_, objects.reply, encoded_reply_); });
        time(decode_step, [&] {
            complaint_ = codec_.decode(encoded_request_.bytes(), arrived_.request);
            complaint_ += codec_.decode(encoded_reply_.bytes(), arrived_.reply);
        });
    }

    // Translating counts there and back.
    void convert_messages(const Objects& objects) {
        codecs::ProtobufDirect& messages = codec_.messages();
        codecs::ProtobufDirect::Request* request = nullptr;
        codecs::ProtobufDirect::Reply* reply = nullptr;
        time(translate,
             [&] { request = &codec_.translate(objects.request), reply = &codec_.translate(objects.reply); });
        const int64_t there_ns = took_[translate];
        time(encode_step,
             [&] { encode(messages, *request, encoded_request_), encode(messages, *reply, encoded_reply_); });
        time(decode_step, [&] {
            complaint_ = messages.decode(encoded_request_.bytes(), *request);
            complaint_ += messages.decode(encoded_reply_.bytes(), *reply);
        });
        time(translate,
             [&] { Codec::translate_back(*request, arrived_.request), Codec::translate_back(*reply, arrived_.reply); });
        took_[translate] += there_ns;
    }

    void check_arrived(uint64_t sum) const {
        if (!complaint_.empty()) fail_wrong_content(complaint_);
        if (Codec::sequence(arrived_.request) != sequence_ || Codec::sequence(arrived_.reply) != sequence_ ||
            !Codec::same(arrived_.request, request_) || !Codec::same(arrived_.reply, reply_) ||
            sum != codecs::DomainAccess<codecs::Strings>::traverse(request_) +
                       codecs::DomainAccess<codecs::Strings>::traverse(reply_))
            fail_wrong_content("an object is not the same after encoding and decoding with codec " +
                               std::string(Codec::id) + ": that is a fault of the codec, please report it");
    }

    CacheSweep* sweep_; // or null: leave the caches as they are
    codecs::Request request_;
    codecs::Reply reply_;
    Codec codec_;
    Objects arrived_; // reused, as a receiver would
    Buffer encoded_request_;
    Buffer encoded_reply_;
    std::string complaint_;
    uint64_t sequence_ = 0;
    bool keep_ = false;
    int64_t took_[steps] = {};
    std::vector<int64_t> kept_[steps];
};

// A further variant, for a part of the cell's time, and its medians. Few operations are enough when each is slow.
template <class Codec>
void add_variant(const Cell& cell, const Control& control, nlohmann::ordered_json& event, const std::string& prefix,
                 CacheSweep* sweep) {
    constexpr int least_operations = 5;
    constexpr int most_operations = 10'000;
    constexpr double share_of_time = 0.25, seconds_of_counted_cell = 1;
    const double seconds = share_of_time * (cell.seconds > 0 ? cell.seconds : seconds_of_counted_cell);
    Serialization<Codec> serialization(cell, sweep);
    serialization.once(); // fills the reused objects and buffers
    serialization.keep_steps();
    const int64_t end_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
    for (int i = 0; i < most_operations; ++i) {
        control.throw_if_ended();
        if (serialization.once().end_ns >= end_ns && i + 1 >= least_operations) break;
    }
    serialization.report(event, prefix);
}

// The same codec for objects that keep their texts in linked lists; void where the objects are the codec's own.
template <class Codec>
struct Linked {
    using type = void;
};
template <class Texts, template <class> class Codec>
struct Linked<Codec<Texts>> {
    using type = Codec<LinkedStrings>;
};

void add_no_variant(nlohmann::ordered_json& event, const std::string& prefix) {
    for (const char* name : step_names) event[prefix + name + "_ns"] = nullptr;
}

template <class Codec>
void play(const Cell& cell, Control& control) {
    const int64_t begin_ns = now_ns();
    Serialization<Codec> serialization(cell, nullptr);
    const int64_t cold_ns = serialization.once().end_ns - begin_ns;
    const WarmUp warm = warm_up(cell, control, serialization);
    say_warm(control, warm, cold_ns, false);
    serialization.keep_steps();
    const Recording recording = record(cell, control, serialization, warm.operations_per_second);

    nlohmann::ordered_json phases{{"event", "phases"}};
    serialization.report(phases, "");
    phases["request_bytes"] = serialization.request_bytes();
    phases["reply_bytes"] = serialization.reply_bytes();
    CacheSweep sweep;
    add_variant<Codec>(cell, control, phases, "cold_", &sweep);
    using LinkedCodec = typename Linked<Codec>::type;
    if constexpr (std::is_void_v<LinkedCodec>) {
        add_no_variant(phases, "linked_");
        add_no_variant(phases, "linked_cold_");
    } else {
        add_variant<LinkedCodec>(cell, control, phases, "linked_", nullptr);
        add_variant<LinkedCodec>(cell, control, phases, "linked_cold_", &sweep);
    }
    control.emit(phases);
    report(cell, control, recording);
}

} // namespace

void serialize(const Cell& cell, Control& control) {
    if (cell.workload.ids == 0)
        fail_bad_cell("workload '" + cell.workload.id +
                      "' has no n, so no objects to serialize: choose another, see `ipc list workloads`");
    choose_codec(cell.codec, [&]<class Codec>() { play<Codec>(cell, control); });
}

} // namespace ipc::peer
