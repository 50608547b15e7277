#include "core/registry.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace ipc {

Status find_transport(std::string_view id, const TransportEntry** entry) {
    const auto all = transports();
    const auto found = std::ranges::find_if(all, [id](const TransportEntry& e) { return e.id == id; });
    if (found != all.end()) {
        *entry = &*found;
        return IPC_OK;
    }
    std::string known;
    for (const TransportEntry& e : all) known.append(known.empty() ? "" : ", ").append(e.id);
    return fail(IPC_UNKNOWN_TRANSPORT, "there is no transport '%.*s'; the transports are %s",
                static_cast<int>(std::min<size_t>(id.size(), 80)), id.data(), known.c_str());
}

bool parse_count(std::string_view text, uint64_t* count) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, *count);
    return error == std::errc{} && rest == end;
}

bool parse_size(std::string_view text, uint64_t* size) {
    unsigned shift = 0;
    if (!text.empty()) {
        const char unit = text.back();
        shift = unit == 'k' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    }
    if (shift != 0) text.remove_suffix(1);
    uint64_t number = 0;
    if (!parse_count(text, &number) || number > (UINT64_MAX >> shift)) return false;
    *size = number << shift;
    return true;
}

} // namespace ipc
