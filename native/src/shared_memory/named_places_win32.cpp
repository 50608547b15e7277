#include "shared_memory/named_places_win32.hpp"

#include "win32/error_text.hpp"
#include "win32/user.hpp"

#include <cstdio>
#include <random>

namespace ipc::shared_memory {

NamedPlaces::NamedPlaces() = default;

void NamedPlaces::make_name(uint32_t (&name)[4]) {
    std::random_device random;
    for (uint32_t& part : name) part = random();
}

void NamedPlaces::set_name(const uint32_t (&name)[4]) {
    wchar_t digits[33];
    std::swprintf(digits, 33, L"%08x%08x%08x%08x", name[0], name[1], name[2], name[3]);
    // Global: the file is the same in all of the user's sessions.
    prefix_ = std::wstring(L"Global\\ipc-") + digits + L"-";
}

Status NamedPlaces::add(unsigned index, const std::atomic<uint32_t>& word, std::atomic<uint32_t>* wakes_of_all) {
    win32::OnlyThisUser security;
    win32::User user, owner;
    if (Status status = win32::this_user(&user)) return status;
    if (Status status = security.open()) return status;
    win32::Handle made(
        CreateSemaphoreW(security.attributes(), 0, most_wakeups, (prefix_ + std::to_wstring(index)).c_str()));
    if (!made) return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot make a semaphore to sleep on");
    if (!win32::owner_of(made.get(), &owner) || !(owner == user))
        return fail(IPC_NO_PERMISSION, "the semaphore to sleep on belongs to another user");
    SleepingPlace place;
    place.wakeups = made.get();
    place.many = true;
    place.wakes_of_all = wakes_of_all;
    semaphores_.push_back(std::move(made));
    places_.add(word, place);
    return IPC_OK;
}

} // namespace ipc::shared_memory
