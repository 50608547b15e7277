#pragma once

#include "codecs/codec.hpp"
#include "codecs/json_fast.hpp"
#include "codecs/json_writer.hpp"

namespace ipc::codecs {

// JSON text, docs/wire-formats.md "JSON codec". simdjson reads it; what that does not take is read, or refused with the
// reason, by nlohmann's library. A field that comes twice counts as it came last. Also carries the Text of workload `ping`:
// {"sequence":1,"text":"ping"}.
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
    std::string decode(Bytes bytes, Request& request);
    std::string decode(Bytes bytes, Reply& reply);
    std::string decode(Bytes bytes, Text& text);

    // The slow reader alone, which the fast one must agree with; for tests and fuzzers.
    static std::string decode_strictly(Bytes bytes, Request& request);
    static std::string decode_strictly(Bytes bytes, Reply& reply);

  private:
    void copy_text(uint8_t* room) const;
    template <class Fields>
    std::string read(Bytes bytes, std::string_view object, const Fields& fields);

    JsonWriter writer_; // holds the object of the latest size(): a JSON text's length is known only once it is written
    FastJsonReader reader_;
};

using Json = BasicJson<Strings>;

} // namespace ipc::codecs
