#include "shared_memory/sleeping_places_win32.hpp"
#include "shared_memory/waiting.hpp"

#include <climits>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace ipc::shared_memory {
namespace {

struct Table {
    std::shared_mutex mutex;
    std::unordered_map<const std::atomic<uint32_t>*, SleepingPlace> places;
};

// Never destroyed: somebody's last close may come after static objects are gone.
Table& table() {
    static auto* only = new Table;
    return *only;
}

SleepingPlace place_of(const std::atomic<uint32_t>& word) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const auto found = all.places.find(&word);
    return found == all.places.end() ? SleepingPlace{} : found->second;
}

// 1 if somebody has probably been woken: who sleeps is woken first, so counts left over are for nobody.
int release_one(const SleepingPlace& place) {
    if (!place.many) return SetEvent(place.wakeups) ? 1 : 0;
    LONG left_over = 0;
    return ReleaseSemaphore(place.wakeups, 1, &left_over) && left_over == 0 ? 1 : 0;
}

} // namespace

SleepingPlaces::~SleepingPlaces() {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    for (const auto* word : words_) all.places.erase(word);
}

void SleepingPlaces::add(const std::atomic<uint32_t>& word, const SleepingPlace& place) {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    all.places[&word] = place;
    words_.push_back(&word);
}

int64_t coarse_now_ms() {
    return static_cast<int64_t>(GetTickCount64());
}

static const bool one_from_the_start = [] {
    DWORD_PTR own = 0, all = 0;
    return GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own != 0 && (own & (own - 1)) == 0;
}();

bool only_one_processor() {
    return one_from_the_start;
}

void yield_processor() {
    SwitchToThread();
}

bool futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t at_most_ns) {
    const SleepingPlace place = place_of(word);
    // In this order: who clears the word before waking all is seen here, and who wakes all later finds us as one of the old.
    const uint32_t seen = place.wakes_of_all != nullptr ? place.wakes_of_all->load() : 0;
    if (word.load() != value) return true;
    const HANDLE ends[2] = {place.wakeups, place.alarm};
    const int64_t ms = (at_most_ns + 999'999) / 1'000'000;
    const DWORD how = WaitForMultipleObjects(place.alarm != nullptr ? 2 : 1, ends, FALSE,
                                             ms >= INT_MAX ? INT_MAX : static_cast<DWORD>(ms));
    if (how == WAIT_FAILED) Sleep(1); // not even then may the caller's loop burn the processor
    // Whoever is woken as one of all wakes the next; the first who began to sleep after that was announced ends the chain.
    if (how == WAIT_OBJECT_0 && place.wakes_of_all != nullptr && place.wakes_of_all->load() != seen) release_one(place);
    return how == WAIT_OBJECT_0;
}

int futex_wake(const std::atomic<uint32_t>& word, int count) {
    const SleepingPlace place = place_of(word);
    if (place.wakeups == nullptr) return 0;
    if (count != 1 && place.wakes_of_all != nullptr) place.wakes_of_all->fetch_add(1);
    return release_one(place);
}

void futex_wake_all(const std::atomic<uint32_t>& word) {
    futex_wake(word, INT_MAX);
}

} // namespace ipc::shared_memory
