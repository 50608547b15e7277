// Scenario `serialize`: the codec alone. An operation is five steps, each timed apart, for a request and its reply:
// build the objects, translate them into the codec's own, encode, decode and translate back, traverse what came out.
// Two more are timed beside it, to compare with: view the encoded bytes in place, and copy them.
#include "choose_codec.hpp"
#include "data.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <algorithm>
#include <cstring>
#include <google/protobuf/arena.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace ipc::peer {
namespace {

using codecs::Buffer;
using codecs::LinkedStrings;

enum Step {
    build,
    translate,
    encode_step,
    decode_step,
    traverse,
    steps_of_operation,
    view = steps_of_operation,
    copy,
    steps
};
constexpr const char* step_names[steps] = {"build", "translate", "encode", "decode", "traverse", "view", "copy"};

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

// A codec whose bytes can be read without making objects of them.
template <class Codec>
concept Views = requires {
    typename Codec::RequestView;
    typename Codec::ReplyView;
};

// Every text, as a program that looks for one would pass them; the sum of their lengths, or what is wrong.
template <class View>
std::string pass_texts(View texts, uint64_t& sum) {
    for (std::string_view text; texts.next(text);) sum += text.size();
    return std::string(texts.complaint());
}

uint64_t sum_of_lengths(const codecs::Strings& texts) {
    uint64_t sum = 0;
    for (const std::string& text : texts) sum += text.size();
    return sum;
}

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
        if constexpr (Views<Codec>) view_texts();
        copy_bytes();

        int64_t took_ns = 0;
        for (int step = 0; step < steps; ++step) {
            if (step < steps_of_operation) took_ns += took_[step];
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
        if constexpr (!Views<Codec>) event[prefix + "view_ns"] = nullptr;
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

    void view_texts() {
        uint64_t lengths = 0;
        time(view, [&] {
            complaint_ = pass_texts(typename Codec::RequestView(encoded_request_.bytes()), lengths);
            complaint_ += pass_texts(typename Codec::ReplyView(encoded_reply_.bytes()), lengths);
        });
        if (!complaint_.empty()) fail_wrong_content(complaint_);
        if (lengths != lengths_)
            fail_wrong_content("the views of codec " + std::string(Codec::id) +
                               " do not show all texts: that is a fault of the codec, please report it");
    }

    // What moving the same bytes costs.
    void copy_bytes() {
        time(copy, [&] {
            copy_of(encoded_request_, copied_request_);
            copy_of(encoded_reply_, copied_reply_);
        });
    }
    static void copy_of(const Buffer& from, Buffer& to) {
        std::memcpy(to.make_room(from.size()), from.data(), from.size());
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
    const uint64_t lengths_ = request_.name.size() + sum_of_lengths(request_.ids) + sum_of_lengths(request_.fields) +
                              sum_of_lengths(reply_.cells); // of all texts
    Codec codec_;
    Objects arrived_; // reused, as a receiver would
    Buffer encoded_request_;
    Buffer encoded_reply_;
    Buffer copied_request_;
    Buffer copied_reply_;
    std::string complaint_;
    uint64_t sequence_ = 0;
    bool keep_ = false;
    int64_t took_[steps] = {};
    std::vector<int64_t> kept_[steps];
};

// Repeats for a part of the cell's time what gives the time it ended. Few operations are enough when each is slow.
template <class Once>
void repeat_variant(const Cell& cell, const Control& control, Once&& once) {
    constexpr int least_operations = 5;
    constexpr int most_operations = 10'000;
    constexpr double share_of_time = 0.25, seconds_of_counted_cell = 1;
    const double seconds = share_of_time * (cell.seconds > 0 ? cell.seconds : seconds_of_counted_cell);
    const int64_t end_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
    for (int i = 0; i < most_operations; ++i) {
        control.throw_if_ended();
        if (once() >= end_ns && i + 1 >= least_operations) break;
    }
}

// A further variant and its medians.
template <class Codec>
void add_variant(const Cell& cell, const Control& control, nlohmann::ordered_json& event, const std::string& prefix,
                 CacheSweep* sweep) {
    Serialization<Codec> serialization(cell, sweep);
    serialization.once(); // fills the reused objects and buffers
    serialization.keep_steps();
    repeat_variant(cell, control, [&] { return serialization.once().end_ns; });
    serialization.report(event, prefix);
}

// What Protocol Buffers offer a receiver: new messages each time, which is the plain way, the same ones again, or messages in
// an arena that gives all its memory back at once and keeps the first block.
class WaysToReceive {
  public:
    WaysToReceive(const Cell& cell, const Control& control) : cell_(cell), control_(control) {
        Messages messages;
        Codec::build(make_request(cell.seed, cell.workload.ids), messages.request);
        Codec::build(make_reply(cell.seed, cell.workload.ids), messages.reply);
        encode(codec_, messages.request, request_);
        encode(codec_, messages.reply, reply_);
    }

    void report(nlohmann::ordered_json& event) {
        event["fresh_decode_ns"] = median([&] {
            Messages messages;
            decode(messages.request, messages.reply);
        });
        Messages kept;
        event["reused_decode_ns"] = median([&] { decode(kept.request, kept.reply); });
        std::vector<char> block(16 * (request_.size() + reply_.size()) + 4096);
        google::protobuf::ArenaOptions options;
        options.initial_block = block.data();
        options.initial_block_size = block.size();
        google::protobuf::Arena arena(options);
        event["arena_decode_ns"] = median([&] {
            decode(*google::protobuf::Arena::CreateMessage<Codec::Request>(&arena),
                   *google::protobuf::Arena::CreateMessage<Codec::Reply>(&arena));
            arena.Reset();
        });
    }

  private:
    using Codec = codecs::ProtobufDirect;
    struct Messages {
        Codec::Request request;
        Codec::Reply reply;
    };

    void decode(Codec::Request& request, Codec::Reply& reply) const {
        const std::string complaint = codec_.decode(request_.bytes(), request) + codec_.decode(reply_.bytes(), reply);
        if (!complaint.empty()) fail_wrong_content(complaint);
    }

    template <class Work>
    int64_t median(Work&& work) {
        std::vector<int64_t> took;
        work(); // what is reused is filled
        repeat_variant(cell_, control_, [&] {
            const int64_t begin_ns = now_ns();
            work();
            const int64_t end_ns = now_ns();
            took.push_back(end_ns - begin_ns);
            return end_ns;
        });
        const auto middle = took.begin() + static_cast<ptrdiff_t>(took.size() / 2);
        std::nth_element(took.begin(), middle, took.end());
        return *middle;
    }

    const Cell& cell_;
    const Control& control_;
    Codec codec_;
    Buffer request_;
    Buffer reply_;
};

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
    if constexpr (std::is_same_v<Codec, codecs::ProtobufDirect>) WaysToReceive(cell, control).report(phases);
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
