#include "data.hpp"

#include "failure.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::peer {
namespace {

constexpr size_t columns = 10;
constexpr size_t cell_characters = 20; // also of an id
constexpr size_t field_characters = 10;

codecs::Strings texts(Generator& generator, size_t count, size_t characters) {
    codecs::Strings made;
    made.reserve(count);
    for (size_t i = 0; i < count; ++i) made.push_back(generator.text(characters));
    return made;
}

} // namespace

std::string Generator::text(size_t characters) {
    constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz012345";
    std::string made(characters, ' ');
    uint64_t output = 0;
    for (size_t i = 0; i < characters; ++i) {
        output = i % 8 == 0 ? next() : output >> 8;
        made[i] = alphabet[output & 31];
    }
    return made;
}

std::vector<uint8_t> raw_payload(uint64_t seed, size_t length) {
    Generator generator(seed);
    std::vector<uint8_t> payload(length);
    for (size_t at = 0; at < length; at += 8) {
        const uint64_t output = generator.next();
        std::memcpy(&payload[at], &output, std::min<size_t>(8, length - at));
    }
    return payload;
}

void stamp_sequence(std::span<uint8_t> payload, uint64_t sequence) {
    if (payload.size() >= sizeof sequence) std::memcpy(payload.data(), &sequence, sizeof sequence);
}

codecs::Request make_request(uint64_t seed, size_t ids) {
    Generator generator(seed);
    codecs::Request request;
    request.name = "measurements";
    request.ids = texts(generator, ids, cell_characters);
    request.fields = texts(generator, columns, field_characters);
    return request;
}

codecs::Reply make_reply(uint64_t seed, size_t rows) {
    Generator generator(seed + 1);
    codecs::Reply reply;
    reply.columns = columns;
    reply.cells = texts(generator, rows * columns, cell_characters);
    return reply;
}

std::string wrong_length(std::string_view what, size_t found, size_t due) {
    return "the " + std::string(what) + " has " + std::to_string(found) + " bytes where " + std::to_string(due) +
           " are due: check that both peers got the same workload";
}

void check_bytes(std::string_view what, std::span<const uint8_t> found, std::span<const uint8_t> expected) {
    if (found.size() != expected.size()) fail_wrong_content(wrong_length(what, found.size(), expected.size()));
    if (found.empty() || std::memcmp(found.data(), expected.data(), found.size()) == 0) return;
    const auto at = std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin();
    fail_wrong_content(
        "byte " + std::to_string(at) + " of the " + std::string(what) +
        " is not what was sent: the transport damaged it, or the peers got different seeds or lost step");
}

void spoil(std::span<uint8_t> bytes) {
    constexpr size_t cache_line = 64;
    for (size_t at = 0; at < bytes.size(); at += cache_line) bytes[at] = static_cast<uint8_t>(~bytes[at]);
}

} // namespace ipc::peer
