#include "codecs/json_fast.hpp"

#include "codecs/objects.hpp"

#include <algorithm>
#include <cstring>
#include <simdjson.h>
#include <utility>

namespace ipc::codecs {
namespace {

namespace ondemand = simdjson::ondemand;

template <class Texts>
bool take_texts(ondemand::value value, Texts& texts) {
    ondemand::array array;
    if (value.get_array().get(array)) return false;
    auto next = texts.begin();
    for (auto element : array) {
        std::string_view text;
        if (element.get_string().get(text)) return false;
        if (next == texts.end()) {
            texts.emplace_back(text);
            next = texts.end();
        } else {
            (next++)->assign(text); // keeps the memory of the text that was there
        }
    }
    texts.erase(next, texts.end());
    return true;
}

template <class Texts>
bool take(ondemand::value value, Field<Texts>& field) {
    field.found = true;
    if (field.texts) return take_texts(value, *field.texts);
    if (field.text) {
        std::string_view text;
        if (value.get_string().get(text)) return false;
        field.text->assign(text);
        return true;
    }
    // -0 would be taken for 0, which is not what the rules say.
    return value.raw_json_token().front() != '-' && !value.get_uint64().get(*field.number) &&
           *field.number <= field.largest;
}

template <class Texts>
Field<Texts>* find(std::span<Field<Texts>> fields, std::string_view name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [name](const auto& field) { return field.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

} // namespace

struct FastJsonReader::Parser {
    ondemand::parser parser;
};

FastJsonReader::FastJsonReader() : parser_(std::make_unique<Parser>()) {}
FastJsonReader::~FastJsonReader() = default;
FastJsonReader::FastJsonReader(FastJsonReader&&) noexcept = default;
FastJsonReader& FastJsonReader::operator=(FastJsonReader&&) noexcept = default;

template <class Texts>
bool FastJsonReader::read(Bytes bytes, std::span<Field<Texts>> fields) {
    uint8_t* const text = padded_.make_room(bytes.size() + simdjson::SIMDJSON_PADDING);
    if (!bytes.empty()) std::memcpy(text, bytes.data(), bytes.size());
    std::memset(text + bytes.size(), 0, simdjson::SIMDJSON_PADDING);
    ondemand::document document;
    if (parser_->parser.iterate(text, bytes.size(), padded_.size()).get(document)) return false;
    ondemand::object object;
    if (document.get_object().get(object)) return false;
    for (auto result : object) {
        ondemand::field member;
        if (std::move(result).get(member)) return false;
        std::string_view name;
        if (member.unescaped_key().get(name)) return false;
        Field<Texts>* const field = find(fields, name);
        if (!field || !take(member.value(), *field)) return false;
    }
    // Out of bounds is where a text ends that has nothing behind its object.
    return document.is_alive() && document.current_location().error() == simdjson::OUT_OF_BOUNDS &&
           std::all_of(fields.begin(), fields.end(), [](const auto& field) { return field.found; });
}

template bool FastJsonReader::read(Bytes, std::span<Field<Strings>>);
template bool FastJsonReader::read(Bytes, std::span<Field<LinkedStrings>>);

} // namespace ipc::codecs
