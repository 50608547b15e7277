#include "win32/user.hpp"

#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <aclapi.h>
#include <sddl.h>

namespace ipc::win32 {
User::User(PSID sid) : sid_(GetLengthSid(sid)) {
    CopySid(static_cast<DWORD>(sid_.size()), sid_.data(), sid);
}

bool User::operator==(const User& other) const {
    return !sid_.empty() && sid_ == other.sid_;
}

std::wstring User::text() const {
    wchar_t* text = nullptr;
    if (sid_.empty() || !ConvertSidToStringSidW(const_cast<BYTE*>(sid_.data()), &text)) return L"nobody";
    std::wstring copy(text);
    LocalFree(text);
    return copy;
}

Status this_user(User* user) {
    HANDLE token = nullptr;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot ask which user this process runs as");
    const Handle owned(token);
    if (!user_of_token(token, user))
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot ask which user this process runs as");
    return IPC_OK;
}

bool user_of_token(HANDLE token, User* user) {
    DWORD size = 0;
    GetTokenInformation(token, TokenUser, nullptr, 0, &size);
    std::vector<BYTE> memory(size);
    if (size == 0 || !GetTokenInformation(token, TokenUser, memory.data(), size, &size)) return false;
    *user = User(reinterpret_cast<const TOKEN_USER*>(memory.data())->User.Sid);
    return true;
}

bool user_of_process(DWORD process, User* user) {
    const Handle opened(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process));
    HANDLE token = nullptr;
    if (!opened || !OpenProcessToken(opened.get(), TOKEN_QUERY, &token)) return false;
    const Handle owned(token);
    return user_of_token(token, user);
}

bool user_of_thread(User* user) {
    HANDLE token = nullptr;
    if (!OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token)) return false;
    const Handle owned(token);
    return user_of_token(token, user);
}

bool owner_of(HANDLE object, User* owner) {
    PSID sid = nullptr;
    PSECURITY_DESCRIPTOR descriptor = nullptr;
    if (GetSecurityInfo(object, SE_KERNEL_OBJECT, OWNER_SECURITY_INFORMATION, &sid, nullptr, nullptr, nullptr,
                        &descriptor) != ERROR_SUCCESS)
        return false;
    const bool known = sid != nullptr;
    if (known) *owner = User(sid);
    LocalFree(descriptor);
    return known;
}

Status OnlyThisUser::open() {
    User user;
    if (Status status = this_user(&user); status != IPC_OK) return status;
    // Owner: this user, not the group that elevated processes get by default. Access: all of it for this user, protected
    // against what would be inherited, and nothing for anybody else.
    const std::wstring sid = user.text();
    const std::wstring text = L"O:" + sid + L"D:P(A;;GA;;;" + sid + L")";
    PSECURITY_DESCRIPTOR descriptor = nullptr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text.c_str(), SDDL_REVISION_1, &descriptor, nullptr))
        return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make a security descriptor for %s",
                            to_utf8(sid).c_str());
    descriptor_.reset(descriptor);
    attributes_ = {sizeof attributes_, descriptor, FALSE};
    return IPC_OK;
}

} // namespace ipc::win32
