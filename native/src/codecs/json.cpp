#include "codecs/json.hpp"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ipc::codecs {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string dump(const ordered_json& object) {
    try {
        return object.dump();
    } catch (const ordered_json::type_error&) {
        throw std::invalid_argument("a text of the object is not UTF-8, which JSON cannot carry: convert it first");
    }
}

// One field a reader knows, and where its value goes: exactly one of the three pointers is set.
template <class Texts>
struct Field {
    std::string_view name;
    uint64_t* number = nullptr;
    uint64_t largest = std::numeric_limits<uint64_t>::max();
    std::string* text = nullptr;
    Texts* texts = nullptr;
    bool found = false;
};

// Takes the parser's events and fills the fields directly: no tree is built, and unknown values, however deep, cost
// nothing.
template <class Texts>
class Filler final : public nlohmann::json_sax<json> {
  public:
    Filler(std::string_view object, std::span<Field<Texts>> fields) : object_(object), fields_(fields) {}

    bool null() override { return scalar("null"); }
    bool boolean(bool) override { return scalar("true or false"); }
    bool number_integer(number_integer_t) override { return scalar("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return scalar("a number with a fraction"); }
    bool binary(binary_t&) override { return scalar("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (!at_known_field()) return scalar("a number");
        if (!field_->number) return wrong_kind("a number");
        if (value > field_->largest)
            return complain("field '" + std::string(field_->name) + "' is larger than " +
                            std::to_string(field_->largest));
        *field_->number = value;
        return true;
    }

    bool string(string_t& value) override {
        if (in_texts_ && depth_ == 2) return add(value);
        if (!at_known_field()) return scalar("a text");
        if (!field_->text) return wrong_kind("a text");
        *field_->text = value;
        return true;
    }

    bool start_array(size_t) override {
        if (depth_ == 0) return complain("is an array, not an object");
        if (in_texts_) return wrong_kind("an array");
        if (at_known_field()) {
            if (!field_->texts) return wrong_kind("an array");
            in_texts_ = true;
            next_ = field_->texts->begin();
        }
        ++depth_;
        return true;
    }

    bool end_array() override {
        if (--depth_ == 1 && in_texts_) {
            in_texts_ = false;
            field_->texts->erase(next_, field_->texts->end());
        }
        return true;
    }

    bool start_object(size_t) override {
        if (in_texts_ || at_known_field()) return wrong_kind("an object");
        ++depth_;
        return true;
    }

    bool end_object() override {
        --depth_;
        return true;
    }

    bool key(string_t& name) override {
        if (depth_ != 1) return true;
        field_ = nullptr;
        for (auto& field : fields_)
            if (field.name == name) field_ = &field;
        if (field_) field_->found = true;
        return true;
    }

    bool parse_error(size_t position, const std::string&, const json::exception&) override {
        return complain("is not JSON from byte " + std::to_string(position) + " on");
    }

    // To be asked once, after the parser came to the end.
    std::string complaint(bool parsed) {
        if (parsed)
            for (const auto& field : fields_)
                if (!field.found) complain("has no field '" + std::string(field.name) + "'");
        return std::move(complaint_);
    }

  private:
    bool at_known_field() const { return depth_ == 1 && field_; }

    // A value that is no text, number or list of texts: refused where one of those is wanted, skipped elsewhere.
    bool scalar(const char* kind) {
        if (depth_ == 0) return complain("is " + std::string(kind) + ", not an object");
        return in_texts_ || at_known_field() ? wrong_kind(kind) : true;
    }

    bool add(const string_t& value) {
        if (next_ == field_->texts->end()) {
            field_->texts->push_back(value);
            next_ = field_->texts->end();
        } else {
            *next_++ = value; // keeps the memory of the text that was there
        }
        return true;
    }

    bool wrong_kind(const char* kind) { return complain("field '" + std::string(field_->name) + "' holds " + kind); }

    bool complain(const std::string& what) {
        if (complaint_.empty())
            complaint_ =
                "the json " + std::string(object_) + " " + what + ": check that the peer sends it with codec json";
        return false;
    }

    std::string_view object_;
    std::span<Field<Texts>> fields_;
    Field<Texts>* field_ = nullptr; // of the latest name at depth 1, if known
    typename Texts::iterator next_{};
    bool in_texts_ = false;
    int depth_ = 0;
    std::string complaint_;
};

template <class Texts>
std::string parse(Bytes bytes, std::string_view object, std::span<Field<Texts>> fields) {
    Filler<Texts> filler(object, fields);
    return filler.complaint(json::sax_parse(bytes.begin(), bytes.end(), &filler));
}

} // namespace

template <class Texts>
size_t BasicJson<Texts>::size(const Request& request) {
    text_ = dump(
        {{"sequence", request.sequence}, {"name", request.name}, {"ids", request.ids}, {"fields", request.fields}});
    return text_.size();
}

template <class Texts>
size_t BasicJson<Texts>::size(const Reply& reply) {
    text_ = dump({{"sequence", reply.sequence}, {"columns", reply.columns}, {"cells", reply.cells}});
    return text_.size();
}

template <class Texts>
size_t BasicJson<Texts>::size(const Text& text) {
    text_ = dump({{"sequence", text.sequence}, {"text", text.text}});
    return text_.size();
}

template <class Texts>
void BasicJson<Texts>::copy_text(uint8_t* room) const {
    std::memcpy(room, text_.data(), text_.size());
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Request& request) const {
    Field<Texts> fields[] = {{.name = "sequence", .number = &request.sequence},
                             {.name = "name", .text = &request.name},
                             {.name = "ids", .texts = &request.ids},
                             {.name = "fields", .texts = &request.fields}};
    return parse<Texts>(bytes, "request", fields);
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Reply& reply) const {
    uint64_t columns = 0;
    Field<Texts> fields[] = {{.name = "sequence", .number = &reply.sequence},
                             {.name = "columns", .number = &columns, .largest = std::numeric_limits<uint32_t>::max()},
                             {.name = "cells", .texts = &reply.cells}};
    std::string complaint = parse<Texts>(bytes, "reply", fields);
    reply.columns = static_cast<uint32_t>(columns);
    return complaint;
}

template <class Texts>
std::string BasicJson<Texts>::decode(Bytes bytes, Text& text) const {
    Field<Texts> fields[] = {{.name = "sequence", .number = &text.sequence}, {.name = "text", .text = &text.text}};
    return parse<Texts>(bytes, "text", fields);
}

template class BasicJson<Strings>;
template class BasicJson<LinkedStrings>;

static_assert(ObjectCodec<Json> && ObjectCodec<BasicJson<LinkedStrings>> && Encodes<Json, Text>);

} // namespace ipc::codecs
