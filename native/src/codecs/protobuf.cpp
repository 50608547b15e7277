#include "codecs/protobuf.hpp"

namespace ipc::codecs {

template <class Texts>
lab::Request& BasicProtobuf<Texts>::translate(const Request& request) {
    ProtobufDirect::build(request, request_);
    return request_;
}

template <class Texts>
lab::Reply& BasicProtobuf<Texts>::translate(const Reply& reply) {
    ProtobufDirect::build(reply, reply_);
    return reply_;
}

template <class Texts>
void BasicProtobuf<Texts>::translate_back(const lab::Request& message, Request& request) {
    request.sequence = message.sequence();
    request.name = message.name();
    request.ids.assign(message.ids().begin(), message.ids().end());
    request.fields.assign(message.fields().begin(), message.fields().end());
}

template <class Texts>
void BasicProtobuf<Texts>::translate_back(const lab::Reply& message, Reply& reply) {
    reply.sequence = message.sequence();
    reply.columns = message.columns();
    reply.cells.assign(message.cells().begin(), message.cells().end());
}

template <class Texts>
std::string BasicProtobuf<Texts>::decode(Bytes bytes, Request& request) {
    std::string complaint = direct_.decode(bytes, request_);
    if (complaint.empty()) translate_back(request_, request);
    return complaint;
}

template <class Texts>
std::string BasicProtobuf<Texts>::decode(Bytes bytes, Reply& reply) {
    std::string complaint = direct_.decode(bytes, reply_);
    if (complaint.empty()) translate_back(reply_, reply);
    return complaint;
}

template class BasicProtobuf<Strings>;
template class BasicProtobuf<LinkedStrings>;

static_assert(ObjectCodec<Protobuf> && ObjectCodec<BasicProtobuf<LinkedStrings>>);

} // namespace ipc::codecs
