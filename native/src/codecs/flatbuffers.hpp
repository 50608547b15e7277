#pragma once

#include "codecs/flatbuffers_view.hpp"

#include <vector>

namespace ipc::codecs {

// FlatBuffers as a program with objects of its own uses them: built from the objects, and read into them. The bytes of
// proto/ipc.fbs, docs/wire-formats.md "FlatBuffers codec".
template <class Texts>
class BasicFlatBuffers : public DomainAccess<Texts> {
  public:
    static constexpr std::string_view id = "flatbuffers";
    using Request = BasicRequest<Texts>;
    using Reply = BasicReply<Texts>;
    using RequestView = FlatBuffersRequestView;
    using ReplyView = FlatBuffersReplyView;

    // Builds the message, which grows from its end to its beginning: write only copies it.
    size_t size(const Request& request);
    size_t size(const Reply& reply);
    void write(const Request&, uint8_t* room) const { copy_message(room); }
    void write(const Reply&, uint8_t* room) const { copy_message(room); }
    // Copies the bytes before it checks them: what is checked must not change afterwards, and must be aligned.
    std::string decode(Bytes bytes, Request& request);
    std::string decode(Bytes bytes, Reply& reply);

  private:
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> add(const Texts& texts);
    void copy_message(uint8_t* room) const;
    Bytes copy_of(Bytes bytes);

    flatbuffers::FlatBufferBuilder builder_;
    std::vector<flatbuffers::Offset<flatbuffers::String>> offsets_; // of the texts of one vector
    Buffer received_;
};

using FlatBuffers = BasicFlatBuffers<Strings>;

} // namespace ipc::codecs
