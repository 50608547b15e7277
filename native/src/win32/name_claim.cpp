#include "win32/name_claim.hpp"

#include "core/registry.hpp"
#include "win32/error_text.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"

namespace ipc::win32 {

Status NameClaim::take(const Address& address) {
    User user;
    OnlyThisUser security;
    if (Status s = this_user(&user); s != IPC_OK) return s;
    if (Status s = security.open(); s != IPC_OK) return s;
    const std::wstring name =
        L"Local\\ipc-" + user.text() + L"-" + to_wide(address.transport().id) + L"-" + to_wide(address.name());
    Handle claim(CreateMutexW(security.attributes(), FALSE, name.c_str()));
    const DWORD error = GetLastError();
    if (!claim && error != ERROR_ACCESS_DENIED && error != ERROR_INVALID_HANDLE)
        return fail_windows(IPC_SYSTEM, error, "cannot listen at %s", address.text().c_str());
    if (!claim || error == ERROR_ALREADY_EXISTS)
        return fail(IPC_NAME_IN_USE,
                    "cannot listen at %s: another listener has this name; close it or choose another name",
                    address.text().c_str());
    claim_ = std::move(claim);
    return IPC_OK;
}

} // namespace ipc::win32
