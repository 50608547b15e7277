#include "codecs/json_fields.hpp"
#include "codecs/objects.hpp"

#include <nlohmann/json.hpp>

namespace ipc::codecs {
namespace {

using nlohmann::json;

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

} // namespace

template <class Texts>
std::string read_strictly(Bytes bytes, std::string_view object, std::span<Field<Texts>> fields) {
    Filler<Texts> filler(object, fields);
    return filler.complaint(json::sax_parse(bytes.begin(), bytes.end(), &filler));
}

template std::string read_strictly(Bytes, std::string_view, std::span<Field<Strings>>);
template std::string read_strictly(Bytes, std::string_view, std::span<Field<LinkedStrings>>);

} // namespace ipc::codecs
