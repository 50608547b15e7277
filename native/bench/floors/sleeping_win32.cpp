#include "slots.hpp"

#include <system_error>
#include <windows.h>

namespace floors {
namespace {

// Windows has no futex between processes: an auto-reset event for each slot.
struct Sleep {
    // Handles have 32 significant bits, whatever the size of a pointer.
    static HANDLE event(const Slot& slot) { return ULongToHandle(slot.event); }

    static void open(Slot& slot) {
        HANDLE made = CreateEventW(nullptr, FALSE, FALSE, nullptr);
        if (made == nullptr)
            throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), "CreateEvent");
        slot.event = HandleToULong(made);
    }
    static void close(Slot& slot) { CloseHandle(event(slot)); }
    static void signal(Slot& slot, uint32_t turn) {
        slot.turn.store(turn, std::memory_order_release);
        SetEvent(event(slot));
    }
    static uint32_t await_change(Slot& slot, uint32_t last) {
        uint32_t turn;
        while ((turn = slot.turn.load(std::memory_order_acquire)) == last) WaitForSingleObject(event(slot), INFINITE);
        return turn;
    }
};

} // namespace

double futex_rtt_ns(const Setup& setup, Sizes sizes) {
    return slots_rtt_ns<Sleep>(setup, sizes);
}

} // namespace floors
