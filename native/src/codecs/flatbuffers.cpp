#include "codecs/flatbuffers.hpp"

#include "codecs/utf8.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace ipc::codecs {
namespace {

// What offsets of 32 bits with a sign can reach; the library only asserts it.
constexpr uint64_t largest_message = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
// Around a table's fields, and around a text: its offset, its length, its end and what aligns it.
constexpr uint64_t most_around_table = 64;
constexpr uint64_t most_around_text = 12;

template <class Texts>
uint64_t most_size_of(const Texts& texts) {
    uint64_t size = 0;
    for (const std::string& text : texts) size += text.size() + most_around_text;
    return size;
}

void check_size(uint64_t most) {
    if (most > largest_message)
        throw std::length_error("the object takes up to " + std::to_string(most) +
                                " bytes in FlatBuffers, which allows " + std::to_string(largest_message) +
                                ": split it");
}

} // namespace

// ---- reading in place

void FlatBuffersTextsView::complain(const std::string& why) {
    complaint_ = "the flatbuffers " + std::string(object_) + " of " + std::to_string(bytes_.size()) + " bytes " + why +
                 ": check that the peer sends it with codec flatbuffers and the same ipc.fbs";
}

// The table that the bytes are, or null.
template <class Table>
const Table* FlatBuffersTextsView::table() {
    // Builders fill up what they make to a multiple of an offset's size; only so is every message cut short seen.
    const bool whole = bytes_.size() <= largest_message && bytes_.size() % sizeof(flatbuffers::uoffset_t) == 0;
    if (whole && flatbuffers::Verifier(bytes_.data(), bytes_.size()).VerifyBuffer<Table>(nullptr))
        return flatbuffers::GetRoot<Table>(bytes_.data());
    complain("is damaged");
    return nullptr;
}

bool FlatBuffersTextsView::next(std::string_view& text) {
    if (const flatbuffers::String* name = std::exchange(first_, nullptr)) return take(*name, text);
    while (then_) {
        if (next_ < then_->size()) return take(*then_->Get(next_++), text);
        then_ = std::exchange(last_, nullptr);
        next_ = 0;
    }
    return false;
}

bool FlatBuffersTextsView::take(const flatbuffers::String& from, std::string_view& text) {
    // Offsets may lead to the same text many times: a few bytes could ask for gigabytes.
    shown_bytes_ += from.size();
    const char* const why = shown_bytes_ > bytes_.size()          ? "has texts that overlap"
                            : !is_utf8(from.c_str(), from.size()) ? "has a text that is not UTF-8"
                                                                  : nullptr;
    if (!why) {
        text = {from.c_str(), from.size()};
        return true;
    }
    complain(why);
    first_ = nullptr;
    then_ = last_ = nullptr;
    return false;
}

FlatBuffersRequestView::FlatBuffersRequestView(Bytes bytes) : FlatBuffersTextsView(bytes, "request") {
    if (const auto* request = table<lab::flat::Request>()) {
        sequence_ = request->sequence();
        first_ = request->name();
        then_ = request->ids();
        last_ = request->fields();
        ids_ = then_->size();
        fields_ = last_->size();
    }
}

FlatBuffersReplyView::FlatBuffersReplyView(Bytes bytes) : FlatBuffersTextsView(bytes, "reply") {
    if (const auto* reply = table<lab::flat::Reply>()) {
        sequence_ = reply->sequence();
        columns_ = reply->columns();
        then_ = reply->cells();
        cells_ = then_->size();
    }
}

// ---- objects

namespace {

// As many of the view's texts as there are, into strings that keep their room.
template <class View, class Texts>
void fill(View& view, Texts& texts, uint32_t count) {
    texts.resize(count);
    std::string_view text;
    for (std::string& to : texts) {
        if (!view.next(text)) return;
        to.assign(text);
    }
}

} // namespace

template <class Texts>
auto BasicFlatBuffers<Texts>::add(const Texts& texts)
    -> flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> {
    offsets_.clear();
    for (const std::string& text : texts) offsets_.push_back(builder_.CreateString(text));
    return builder_.CreateVector(offsets_.data(), offsets_.size());
}

// The order in which parts are added is the order in which they lie, from the end: FlatBuffersTables.cs has the same.
template <class Texts>
size_t BasicFlatBuffers<Texts>::size(const Request& request) {
    check_size(most_around_table + request.name.size() + most_size_of(request.ids) + most_size_of(request.fields));
    builder_.Clear();
    const auto name = builder_.CreateString(request.name);
    const auto ids = add(request.ids);
    const auto fields = add(request.fields);
    builder_.Finish(lab::flat::CreateRequest(builder_, request.sequence, name, ids, fields));
    return builder_.GetSize();
}

template <class Texts>
size_t BasicFlatBuffers<Texts>::size(const Reply& reply) {
    check_size(most_around_table + most_size_of(reply.cells));
    builder_.Clear();
    const auto cells = add(reply.cells);
    builder_.Finish(lab::flat::CreateReply(builder_, reply.sequence, reply.columns, cells));
    return builder_.GetSize();
}

template <class Texts>
void BasicFlatBuffers<Texts>::copy_message(uint8_t* room) const {
    std::memcpy(room, builder_.GetBufferPointer(), builder_.GetSize());
}

template <class Texts>
Bytes BasicFlatBuffers<Texts>::copy_of(Bytes bytes) {
    uint8_t* const room = received_.make_room(bytes.size());
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    return received_.bytes();
}

template <class Texts>
std::string BasicFlatBuffers<Texts>::decode(Bytes bytes, Request& request) {
    RequestView view(copy_of(bytes));
    request.sequence = view.sequence();
    std::string_view name;
    if (view.next(name)) request.name = name;
    fill(view, request.ids, view.ids());
    fill(view, request.fields, view.fields());
    return view.complaint();
}

template <class Texts>
std::string BasicFlatBuffers<Texts>::decode(Bytes bytes, Reply& reply) {
    ReplyView view(copy_of(bytes));
    reply.sequence = view.sequence();
    reply.columns = view.columns();
    fill(view, reply.cells, view.cells());
    return view.complaint();
}

template class BasicFlatBuffers<Strings>;
template class BasicFlatBuffers<LinkedStrings>;

static_assert(ObjectCodec<FlatBuffers> && ObjectCodec<BasicFlatBuffers<LinkedStrings>>);

} // namespace ipc::codecs
