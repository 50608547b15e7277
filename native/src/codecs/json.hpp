#pragma once

#include "codecs/codec.hpp"

namespace ipc::codecs {

// JSON text, written and read by nlohmann's library; docs/wire-formats.md "JSON codec". A field that comes twice counts
// as it came last. Also carries the Text of workload `ping`: {"sequence":1,"text":"ping"}.
template <class Texts>
class BasicJson : public DomainAccess<Texts> {
  public:
    static constexpr std::string_view id = "json";
    using Request = BasicRequest<Texts>;
    using Reply = BasicReply<Texts>;

    size_t size(const Request& request);
    size_t size(const Reply& reply);
    size_t size(const Text& text);
    template <class Object>
    void write(const Object&, uint8_t* room) const {
        copy_text(room);
    }
    std::string decode(Bytes bytes, Request& request) const;
    std::string decode(Bytes bytes, Reply& reply) const;
    std::string decode(Bytes bytes, Text& text) const;

  private:
    void copy_text(uint8_t* room) const;

    std::string text_; // the object of the latest size(): a JSON text's length is known only once it is written
};

using Json = BasicJson<Strings>;

} // namespace ipc::codecs
