#pragma once

#include "codecs/custom_reader.hpp"
#include "codecs/view_numbers.hpp"

namespace ipc::codecs {

// A message of codec custom read where it lies, without an object: the numbers first, then text after text.
//
//     CustomReplyView reply(bytes);
//     for (std::string_view cell; reply.next(cell);) ...
//     if (!reply.complaint().empty()) ... // what came is not to be trusted
//
// All that the decoder refuses is refused here, each text when it is its turn; so what was seen before a complaint may belong to
// a damaged message. The texts lie in the message: they last as long as it does. In memory that a peer can write to they
// can change at any time, also after they were checked, but never come to lie outside. The twin of managed/Ipc.Codecs/CustomView.cs.
class CustomTextsView {
  public:
    // The next text, in the order of docs/wire-formats.md; false after the last, and at damage.
    bool next(std::string_view& text) {
        if (left_ == 0) return end();
        --left_;
        if (reader_.text_in_place(text)) return true;
        left_ = 0;
        damaged_ = true;
        return false;
    }
    // "" or what is wrong with the bytes read so far.
    const std::string& complaint() const { return reader_.complaint(); }

  protected:
    CustomTextsView(Bytes bytes, std::string_view object) : reader_(bytes, object) {}

    CustomReader reader_;
    uint64_t left_ = 0; // texts to come
    bool damaged_ = false;

  private:
    bool end() {
        if (!damaged_) damaged_ = !reader_.end();
        return false;
    }
};

// Its texts: the name, the ids, the fields.
class CustomRequestView : public CustomTextsView, public RequestNumbers {
  public:
    explicit CustomRequestView(Bytes bytes) : CustomTextsView(bytes, "request") {
        damaged_ = !(reader_.integer(&sequence_, "its sequence") && reader_.integer(&ids_, "its number of ids") &&
                     reader_.integer(&fields_, "its number of fields") &&
                     reader_.can_hold(uint64_t{1} + ids_ + fields_, "texts"));
        if (!damaged_) left_ = uint64_t{1} + ids_ + fields_;
    }
};

// Its texts: the cells, row after row.
class CustomReplyView : public CustomTextsView, public ReplyNumbers {
  public:
    explicit CustomReplyView(Bytes bytes) : CustomTextsView(bytes, "reply") {
        damaged_ =
            !(reader_.integer(&sequence_, "its sequence") && reader_.integer(&columns_, "its number of columns") &&
              reader_.integer(&cells_, "its number of cells") && reader_.can_hold(cells_, "cells"));
        if (!damaged_) left_ = cells_;
    }
};

} // namespace ipc::codecs
