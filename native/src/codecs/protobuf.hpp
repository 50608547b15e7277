#pragma once

#include "codecs/protobuf_direct.hpp"

namespace ipc::codecs {

// Protocol Buffers as a program with objects of its own uses it: translated into messages to send, and back on arrival.
template <class Texts>
class BasicProtobuf : public DomainAccess<Texts> {
  public:
    static constexpr std::string_view id = "protobuf";
    using Request = BasicRequest<Texts>;
    using Reply = BasicReply<Texts>;

    size_t size(const Request& request) { return direct_.size(translate(request)); }
    size_t size(const Reply& reply) { return direct_.size(translate(reply)); }
    void write(const Request&, uint8_t* room) { direct_.write(request_, room); }
    void write(const Reply&, uint8_t* room) { direct_.write(reply_, room); }
    std::string decode(Bytes bytes, Request& request);
    std::string decode(Bytes bytes, Reply& reply);

    // The steps apart, for scenario `serialize`: the message is scratch memory of this codec, overwritten by the next
    // one.
    lab::Request& translate(const Request& request);
    lab::Reply& translate(const Reply& reply);
    static void translate_back(const lab::Request& message, Request& request);
    static void translate_back(const lab::Reply& message, Reply& reply);
    ProtobufDirect& messages() { return direct_; }

  private:
    ProtobufDirect direct_;
    lab::Request request_;
    lab::Reply reply_;
};

using Protobuf = BasicProtobuf<Strings>;

} // namespace ipc::codecs
