#include "core/address.hpp"

#include "core/registry.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace ipc {
namespace {

using Options = std::map<std::string, std::string, std::less<>>;

// How much of a wrong text an error message repeats.
int shown(std::string_view text) {
    return static_cast<int>(std::min<size_t>(text.size(), 200));
}

const OptionEntry* find_option(const TransportEntry& transport, std::string_view name) {
    const auto found =
        std::ranges::find_if(transport.options, [name](const OptionEntry& option) { return option.name == name; });
    return found == transport.options.end() ? nullptr : &*found;
}

bool is_one_of(std::string_view choices, std::string_view value) {
    while (!choices.empty()) {
        const size_t comma = std::min(choices.find(','), choices.size());
        if (choices.substr(0, comma) == value) return true;
        choices.remove_prefix(std::min(comma + 1, choices.size()));
    }
    return false;
}

Status unknown_option(const TransportEntry& transport, std::string_view name) {
    std::string known;
    for (const OptionEntry& option : transport.options) known.append(known.empty() ? "" : ", ").append(option.name);
    return fail(IPC_BAD_OPTION, "transport '%s' has no option '%.*s'; its options are %s", transport.id, shown(name),
                name.data(), known.c_str());
}

Status check_size(const TransportEntry& transport, const OptionEntry& option, std::string_view value) {
    uint64_t size = 0;
    if (!parse_size(value, &size) || size == 0)
        return fail(IPC_BAD_OPTION, "option %s=%.*s of transport '%s' must be a number of bytes from 1, with k, M or G",
                    option.name, shown(value), value.data(), transport.id);
    if (size > PTRDIFF_MAX)
        return fail(IPC_BAD_OPTION,
                    "option %s=%.*s of transport '%s' is more than a %zu-bit process can have in memory", option.name,
                    shown(value), value.data(), transport.id, sizeof(size_t) * 8);
    uint64_t largest = 0;
    if (option.name == std::string_view("max") && parse_size(transport.largest_message, &largest) && size > largest)
        return fail(IPC_BAD_OPTION, "option max=%.*s is over the largest message of transport '%s', %s", shown(value),
                    value.data(), transport.id, transport.largest_message);
    return IPC_OK;
}

Status check_value(const TransportEntry& transport, const OptionEntry& option, std::string_view value) {
    uint64_t count = 0;
    switch (option.kind) {
    case OptionKind::size:
        return check_size(transport, option, value);
    case OptionKind::count:
        if (parse_count(value, &count)) return IPC_OK;
        return fail(IPC_BAD_OPTION, "option %s=%.*s of transport '%s' must be a whole number", option.name,
                    shown(value), value.data(), transport.id);
    case OptionKind::choice:
        if (!value.empty() && is_one_of(option.choices, value)) return IPC_OK;
        return fail(IPC_BAD_OPTION, "option %s=%.*s of transport '%s' must be one of %s", option.name, shown(value),
                    value.data(), transport.id, option.choices);
    }
    return IPC_OK;
}

Status parse_options(std::string_view text, const TransportEntry& transport, Options* options) {
    while (true) {
        const size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        const size_t equals = pair.find('=');
        if (equals == std::string_view::npos)
            return fail(IPC_BAD_ADDRESS, "'%.*s' is not an option: write option=value and & between two", shown(pair),
                        pair.data());
        const std::string_view name = pair.substr(0, equals);
        const std::string_view value = pair.substr(equals + 1);
        const OptionEntry* option = find_option(transport, name);
        if (option == nullptr) return unknown_option(transport, name);
        if (Status status = check_value(transport, *option, value); status != IPC_OK) return status;
        if (!options->try_emplace(option->name, value).second)
            return fail(IPC_BAD_OPTION, "option %s= stands twice in an address: give it once", option->name);
        if (end == text.size()) return IPC_OK;
        text.remove_prefix(end + 1);
    }
}

} // namespace

Status Address::parse(std::string_view text, Address* address) {
    const size_t separator = text.find("://");
    if (separator == std::string_view::npos || separator == 0 || text.find('\0') != std::string_view::npos)
        return fail(IPC_BAD_ADDRESS, "'%.*s' is not an address: write transport://name?option=value", shown(text),
                    text.data());
    Address parsed;
    parsed.text_ = text;
    if (Status status = find_transport(text.substr(0, separator), &parsed.transport_); status != IPC_OK) return status;
    std::string_view rest = text.substr(separator + 3);
    const size_t question = rest.find('?');
    parsed.name_ = rest.substr(0, question);
    if (parsed.name_.empty())
        return fail(IPC_BAD_ADDRESS, "'%.*s' has no name: write %s://name", shown(text), text.data(),
                    parsed.transport_->id);
    if (question != std::string_view::npos)
        if (Status status = parse_options(rest.substr(question + 1), *parsed.transport_, &parsed.options_);
            status != IPC_OK)
            return status;
    for (const OptionEntry& option : parsed.transport_->options)
        parsed.options_.try_emplace(option.name, option.default_value);
    *address = std::move(parsed);
    return IPC_OK;
}

const std::string& Address::option(std::string_view name) const {
    const auto found = options_.find(name);
    assert(found != options_.end() && "registry.json gives this transport no such option");
    return found->second;
}

size_t Address::option_size(std::string_view name) const {
    uint64_t size = 0;
    [[maybe_unused]] const bool valid = parse_size(option(name), &size);
    assert(valid);
    return static_cast<size_t>(size);
}

uint64_t Address::option_count(std::string_view name) const {
    uint64_t count = 0;
    [[maybe_unused]] const bool valid = parse_count(option(name), &count);
    assert(valid);
    return count;
}

std::string Address::with_name(std::string_view name) const {
    std::string text(transport_->id);
    text.append("://").append(name);
    const size_t question = text_.find('?');
    if (question != std::string::npos) text.append(text_, question);
    return text;
}

} // namespace ipc
