#pragma once

#include "core/status.hpp"
#include "win32/handle.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ipc::win32 {

// A user as Windows knows one: a security identifier, copied.
class User {
  public:
    User() = default;
    explicit User(PSID sid);

    bool operator==(const User& other) const;
    // S-1-5-21-..., as it stands in names and error messages; "nobody" for an empty one.
    std::wstring text() const;

  private:
    std::vector<BYTE> sid_;
};

// The user this process runs as. The process's own, whatever user the thread impersonates.
Status this_user(User* user);

// Who a process runs as. False when that cannot be known: the process is gone, or its token may not be read (an elevated
// process of the same user is such a one).
bool user_of_process(DWORD process, User* user);

// Who this thread impersonates. False if it impersonates nobody.
bool user_of_thread(User* user);

// Who a token stands for. False when it cannot be asked; it needs TOKEN_QUERY.
bool user_of_token(HANDLE token, User* user);

// Who owns a kernel object. False when that cannot be known; the handle needs READ_CONTROL.
bool owner_of(HANDLE object, User* owner);

// Makes kernel objects that belong to this user and that nobody else may open.
class OnlyThisUser {
  public:
    Status open();
    SECURITY_ATTRIBUTES* attributes() { return &attributes_; }

  private:
    struct Free {
        void operator()(void* descriptor) const { LocalFree(descriptor); }
    };
    std::unique_ptr<void, Free> descriptor_;
    SECURITY_ATTRIBUTES attributes_{};
};

} // namespace ipc::win32
