#include "codecs/protobuf_direct.hpp"

#include <limits>
#include <stdexcept>

namespace ipc::codecs {
namespace {

constexpr size_t largest_message = std::numeric_limits<int>::max(); // what the library can count

template <class Message>
size_t size_of(const Message& message) {
    const size_t size = message.ByteSizeLong();
    if (size > largest_message)
        throw std::length_error("the object takes " + std::to_string(size) +
                                " bytes in Protocol Buffers, which allows 2147483647: split it");
    return size;
}

template <class Message>
std::string parse(Bytes bytes, Message& message, const char* object) {
    if (bytes.size() <= largest_message && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return {};
    return "the protobuf " + std::string(object) + " of " + std::to_string(bytes.size()) +
           " bytes is damaged: check that the peer sends it with a codec of the protobuf kind and the same ipc.proto";
}

} // namespace

size_t ProtobufDirect::size(const Request& request) const {
    return size_of(request);
}
size_t ProtobufDirect::size(const Reply& reply) const {
    return size_of(reply);
}
// size() has cached the sizes of the parts just before.
void ProtobufDirect::write(const Request& request, uint8_t* room) const {
    request.SerializeWithCachedSizesToArray(room);
}
void ProtobufDirect::write(const Reply& reply, uint8_t* room) const {
    reply.SerializeWithCachedSizesToArray(room);
}
std::string ProtobufDirect::decode(Bytes bytes, Request& request) const {
    return parse(bytes, request, "request");
}
std::string ProtobufDirect::decode(Bytes bytes, Reply& reply) const {
    return parse(bytes, reply, "reply");
}

codecs::Request ProtobufDirect::to_domain(const Request& from) {
    return {from.sequence(),
            from.name(),
            {from.ids().begin(), from.ids().end()},
            {from.fields().begin(), from.fields().end()}};
}

codecs::Reply ProtobufDirect::to_domain(const Reply& from) {
    return {from.sequence(), from.columns(), {from.cells().begin(), from.cells().end()}};
}

bool ProtobufDirect::same(const Request& request, const codecs::Request& expected) {
    return request.name() == expected.name && same_texts(request.ids(), expected.ids) &&
           same_texts(request.fields(), expected.fields);
}

bool ProtobufDirect::same(const Reply& reply, const codecs::Reply& expected) {
    return reply.columns() == expected.columns && same_texts(reply.cells(), expected.cells);
}

uint64_t ProtobufDirect::traverse(const Request& request) {
    return sum_of_characters(request.ids()) + sum_of_characters(request.fields());
}

uint64_t ProtobufDirect::traverse(const Reply& reply) {
    return sum_of_characters(reply.cells());
}

void ProtobufDirect::set_cells(Reply& reply, uint32_t columns, std::span<const std::string_view> cells) {
    reply.set_columns(columns);
    reply.clear_cells();
    for (std::string_view cell : cells) reply.add_cells()->assign(cell);
}

static_assert(ObjectCodec<ProtobufDirect>);

} // namespace ipc::codecs
