#pragma once

#include "core/status.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ipc {

struct TransportEntry; // registry.hpp

// transport://name?option=value&option=value, checked against the registry: the transport exists, every option is its own
// or a common one, and every value is one it takes.
class Address {
  public:
    static Status parse(std::string_view text, Address* address);

    const std::string& text() const { return text_; }
    const TransportEntry& transport() const { return *transport_; }
    const std::string& name() const { return name_; }

    // An option's value, or its default from the registry. Asking for an option the transport lacks is a bug (asserts).
    const std::string& option(std::string_view name) const;
    size_t option_size(std::string_view name) const; // "64M" -> 67108864; powers of 1024
    uint64_t option_count(std::string_view name) const;
    // The limit on messages in bytes: option max=.
    size_t limit() const { return option_size("max"); }

    // The same address with another name (a listener's, once the system has chosen a port).
    std::string with_name(std::string_view name) const;

  private:
    std::string text_;
    const TransportEntry* transport_ = nullptr;
    std::string name_;
    std::map<std::string, std::string, std::less<>> options_;
};

} // namespace ipc
