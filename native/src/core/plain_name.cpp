#include "core/plain_name.hpp"

#include <algorithm>

namespace ipc {

Status check_plain_name(const Address& address) {
    constexpr size_t longest = 80;
    const std::string& name = address.name();
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    if (!name.empty() && name.size() <= longest && name.front() != '.' && std::ranges::all_of(name, allowed))
        return IPC_OK;
    return fail(IPC_BAD_ADDRESS,
                "'%.200s' has a name that cannot be used: write 1 to %zu of A-Z a-z 0-9 . _ - and no dot first",
                address.text().c_str(), longest);
}

} // namespace ipc
