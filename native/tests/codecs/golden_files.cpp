#include "golden_files.hpp"

#include "codecs/collection.hpp"
#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "data.hpp"

namespace ipc::codecs::testing {
namespace {

constexpr uint64_t seed = 42;
constexpr size_t rows = 3;
constexpr uint64_t sequence = 7;

template <class Codec>
void add(std::map<std::string, std::vector<uint8_t>>& files) {
    Codec codec;
    Buffer buffer;
    const auto add_one = [&](const std::string& name, const auto& object) {
        encode(codec, object, buffer);
        files[name + "." + std::string(Codec::id)].assign(buffer.bytes().begin(), buffer.bytes().end());
    };
    add_one("request", golden_request());
    add_one("reply", golden_reply());
    add_one("request-edge", golden_edge_request());
    add_one("reply-edge", golden_edge_reply());
    // As collections.
    const auto add_all = [&](const std::string& name, const auto&... objects) {
        Collector collection;
        (append(codec, objects, collection), ...);
        files[name + "." + std::string(Codec::id)].assign(collection.bytes().begin(), collection.bytes().end());
    };
    add_all("requests", golden_request(), golden_edge_request(), golden_request());
    add_all("replies", golden_reply(), golden_edge_reply(), golden_reply());
}

} // namespace

Request golden_request() {
    Request request = peer::make_request(seed, rows);
    request.sequence = sequence;
    return request;
}

Reply golden_reply() {
    Reply reply = peer::make_reply(seed, rows);
    reply.sequence = sequence;
    return reply;
}

Request golden_edge_request() {
    return {~uint64_t{0}, "", {"", "ä", "語€", "😀", "\"\\/\n\t\x01", {"a\0b", 3}}, {""}};
}

Reply golden_edge_reply() {
    return {0, ~uint32_t{0}, {"", "\x7F\xC2\x80", "\xEF\xBF\xBF\xF4\x8F\xBF\xBF", "e\xCC\x81", "<&+'>", "مرحبا"}};
}

std::map<std::string, std::vector<uint8_t>> golden_files() {
    std::map<std::string, std::vector<uint8_t>> files;
    add<Custom>(files);
    add<FlatBuffers>(files);
    add<Protobuf>(files);
    add<Json>(files);
    auto& raw = files["raw-request.bin"];
    raw = peer::raw_payload(seed, 100);
    peer::stamp_sequence(raw, 1);
    return files;
}

} // namespace ipc::codecs::testing
