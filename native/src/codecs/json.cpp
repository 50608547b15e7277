#include "codecs/json.hpp"

#include "codecs/json_fields.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <span>

namespace ipc::codecs {
namespace {

// What the fields of an object are, and where their values go.
template <class Texts>
auto fields_of(BasicRequest<Texts>& request) {
    return std::array<Field<Texts>, 4>{{{.name = "sequence", .number = &request.sequence},
                                        {.name = "name", .text = &request.name},
                                        {.name = "ids", .texts = &request.ids},
                                        {.name = "fields", .texts = &request.fields}}};
}

template <class Texts>
auto fields_of(Text& text) {
    return std::array<Field<Texts>, 2>{
        {{.name = "sequence", .number = &text.sequence}, {.name = "text", .text = &text.text}}};
}

template <class Texts>
auto fields_of(BasicReply<Texts>& reply, uint64_t* columns) {
    return std::array<Field<Texts>, 3>{
        {{.name = "sequence", .number = &reply.sequence},
         {.name = "columns", .number = columns, .largest = std::numeric_limits<uint32_t>::max()},
         {.name = "cells", .texts = &reply.cells}}};
}

} // namespace

template <class Texts>
size_t BasicJson<Texts>::size(const Request& request) {
    writer_.begin();
    writer_.add("sequence", request.sequence);
    writer_.add("name", request.name);
    writer_.add_all("ids", request.ids);
    writer_.add_all("fields", request.fields);
    writer_.end();
    return writer_.text().size();
}

template <class Texts>
size_t BasicJson<Texts>::size(const Reply& reply) {
    writer_.begin();
    writer_.add("sequence", reply.sequence);
    writer_.add("columns", reply.columns);
    writer_.add_all("cells", reply.cells);
    writer_.end();
    return writer_.text().size();
}

template <class Texts>
size_t BasicJson<Texts>::size(const Text& text) {
    writer_.begin();
    writer_.add("sequence", text.sequence);
    writer_.add("text", text.text);
    writer_.end();
    return writer_.text().size();
}

template <class Texts>
void BasicJson<Texts>::copy_text(uint8_t* room) const {
    std::memcpy(room, writer_.text().data(), writer_.text().size());
}

template <class Texts>
template <class Fields>
std::string BasicJson<Texts>::read(Bytes bytes, std::string_view object, const Fields& fields) {
    Fields filled = fields;
    if (reader_.read(bytes, std::span<Field<Texts>>(filled))) return {};
    filled = fields;
    return read_strictly(bytes, object, std::span<Field<Texts>>(filled));
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Request& request) {
    return read(bytes, "request", fields_of(request));
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Reply& reply) {
    uint64_t columns = 0;
    std::string complaint = read(bytes, "reply", fields_of(reply, &columns));
    reply.columns = static_cast<uint32_t>(columns);
    return complaint;
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Text& text) {
    return read(bytes, "text", fields_of<Texts>(text));
}

template <class Texts>
std::string BasicJson<Texts>::decode_strictly(Bytes bytes, Request& request) {
    auto fields = fields_of(request);
    return read_strictly(bytes, "request", std::span<Field<Texts>>(fields));
}

template <class Texts>
std::string BasicJson<Texts>::decode_strictly(Bytes bytes, Reply& reply) {
    uint64_t columns = 0;
    auto fields = fields_of(reply, &columns);
    std::string complaint = read_strictly(bytes, "reply", std::span<Field<Texts>>(fields));
    reply.columns = static_cast<uint32_t>(columns);
    return complaint;
}

template class BasicJson<Strings>;
template class BasicJson<LinkedStrings>;

static_assert(ObjectCodec<Json> && ObjectCodec<BasicJson<LinkedStrings>> && Encodes<Json, Text>);

} // namespace ipc::codecs
