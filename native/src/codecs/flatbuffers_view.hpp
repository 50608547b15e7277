#pragma once

#include "codecs/codec.hpp"
#include "codecs/view_numbers.hpp"
#include "ipc_generated.h" // compiled from proto/ipc.fbs at build time

#include <string>
#include <string_view>

namespace ipc::codecs {

// A message of codec flatbuffers read where it lies, without an object:
//
//     FlatBuffersReplyView reply(bytes);
//     for (std::string_view cell; reply.next(cell);) ...
//     if (!reply.complaint().empty()) ... // what came is not to be trusted
//
// The constructor checks the whole message but whether its texts are UTF-8, which each is when it is its turn. So the bytes must
// stay as they are while the view is used: in memory that a peer can write to, copy them first. They must be aligned as
// FlatBuffers asks: to eight bytes.
class FlatBuffersTextsView {
  public:
    // The next text, in the order of docs/wire-formats.md; false after the last, and at damage.
    bool next(std::string_view& text);
    // "" or what is wrong with the bytes read so far.
    const std::string& complaint() const { return complaint_; }

  protected:
    using Texts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

    FlatBuffersTextsView(Bytes bytes, const char* object) : bytes_(bytes), object_(object) {}
    template <class Table>
    const Table* table();
    void complain(const std::string& why);

    Bytes bytes_;
    const char* object_;
    // In the order they are shown; null where the object has no such part.
    const flatbuffers::String* first_ = nullptr;
    const Texts* then_ = nullptr;
    const Texts* last_ = nullptr;

  private:
    bool take(const flatbuffers::String& from, std::string_view& text);

    uint32_t next_ = 0;        // of then_
    uint64_t shown_bytes_ = 0; // of all texts
    std::string complaint_;
};

// Its texts: the name, the ids, the fields.
class FlatBuffersRequestView : public FlatBuffersTextsView, public RequestNumbers {
  public:
    explicit FlatBuffersRequestView(Bytes bytes);
};

// Its texts: the cells, row after row.
class FlatBuffersReplyView : public FlatBuffersTextsView, public ReplyNumbers {
  public:
    explicit FlatBuffersReplyView(Bytes bytes);
};

} // namespace ipc::codecs
