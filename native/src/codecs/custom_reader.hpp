#pragma once

#include "codecs/codec.hpp"
#include "codecs/short_copy.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ipc::codecs {

// Walks through bytes of codec custom that may be anything. No length is read twice: it is copied, checked, then used, so that
// bytes changed meanwhile by a peer cannot make it read outside.
class CustomReader {
  public:
    CustomReader(Bytes bytes, std::string_view object)
        : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()), object_(object) {}

    template <class Integer>
    bool integer(Integer* value, std::string_view what) {
        if (left() < sizeof *value) return complain("ends inside " + std::string(what));
        std::memcpy(value, at_, sizeof *value);
        at_ += sizeof *value;
        return true;
    }

    // Before any memory is taken for `count` texts: can they be there at all?
    bool can_hold(uint64_t count, std::string_view what) {
        if (count <= left() / length_size) return true;
        return complain("promises " + std::to_string(count) + " " + std::string(what) + " where " +
                        std::to_string(left()) + " bytes are left");
    }

    // These copy a text before it is checked: what was found to be UTF-8 stays it.
    bool text(std::string& text) {
        const uint8_t* next = take_text(at_, text);
        if (!next) return refuse_text();
        at_ = next;
        return true;
    }

    template <class Texts>
    bool texts(Texts& texts, uint32_t count) {
        texts.resize(count);
        const uint8_t* at =
            at_; // kept in a register: the texts' bytes might, for all the compiler knows, overlap this object
        for (std::string& text : texts)
            if (at = take_text(at, text); !at) return refuse_text();
        at_ = at;
        return true;
    }

    // A text where it lies; if a peer can change the bytes, what was found to be UTF-8 may not stay it.
    bool text_in_place(std::string_view& text) {
        uint32_t length = 0;
        const uint8_t* const at = take_length(at_, length);
        if (!at) return refuse_text();
        const char* const characters = reinterpret_cast<const char*>(at);
        if (!is_ascii(characters, length) && !is_utf8_text(characters, length)) {
            fault(at, length, "has a text that is not UTF-8");
            return refuse_text();
        }
        text = {characters, length};
        at_ = at + length;
        return true;
    }

    bool end() { return at_ == end_ || complain("has " + std::to_string(left()) + " bytes more than its content"); }

    const std::string& complaint() const { return complaint_; }

  private:
    size_t left() const { return static_cast<size_t>(end_ - at_); }

    // What follows the text at `at`, or null, after which refuse_text says why: the error message is made apart, so that the
    // loops above stay a few instructions.
    const uint8_t* take_text(const uint8_t* at, std::string& text) {
        uint32_t length = 0;
        at = take_length(at, length);
        if (!at) return nullptr;
        if (text.size() != length) text.resize(length); // a reused object's texts mostly have their length already
        if (!copy_text(text.data(), at, length) && !is_utf8_text(text.data(), length))
            return fault(at, length, "has a text that is not UTF-8");
        return at + length;
    }

    // Where the text begins whose length lies at `at`; all of it is there. Or null, as above.
    const uint8_t* take_length(const uint8_t* at, uint32_t& length) {
        const auto available = static_cast<size_t>(end_ - at);
        if (available < length_size) return fault(at, 0, "ends inside the length of a text");
        std::memcpy(&length, at, length_size);
        at += length_size;
        return length <= available - length_size ? at : fault(at, length, nullptr);
    }

    const uint8_t* fault(const uint8_t* at, uint32_t length, const char* what) {
        at_ = at;
        fault_length_ = length;
        fault_ = what;
        return nullptr;
    }
    bool refuse_text() {
        if (fault_) return complain(fault_);
        return complain("promises a text of " + std::to_string(fault_length_) + " bytes where " +
                        std::to_string(left()) + " are left");
    }

    bool complain(const std::string& what) {
        complaint_ = "the custom " + std::string(object_) + " " + what + " at byte " + std::to_string(at_ - begin_) +
                     ": check that the peer sends it with codec custom";
        return false;
    }

    static constexpr size_t length_size = 4;

    const uint8_t* begin_;
    const uint8_t* at_;
    const uint8_t* end_;
    std::string_view object_;
    const char* fault_ = nullptr; // of a text, or null: it is longer than what is left
    uint32_t fault_length_ = 0;
    std::string complaint_;
};

} // namespace ipc::codecs
