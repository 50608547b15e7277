#include "command.hpp"

#include <charconv>

namespace puppet {
namespace {

template <class Number>
Number parse(const std::string& word) {
    Number number{};
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) throw Wrong("'" + word + "' is not a number");
    return number;
}

} // namespace

std::string Command::word() {
    std::string word;
    if (!(words_ >> word)) throw Wrong("the command lacks an argument");
    return word;
}

uint64_t Command::number() {
    return parse<uint64_t>(word());
}

int32_t Command::timeout() {
    return parse<int32_t>(word());
}

bool Command::loan() {
    auto mode = word();
    if (mode != "copy" && mode != "loan") throw Wrong("'" + mode + "' is neither copy nor loan");
    return mode == "loan";
}

std::string Command::text() {
    std::string text;
    words_.get(); // the space before it
    std::getline(words_, text);
    return text;
}

} // namespace puppet
