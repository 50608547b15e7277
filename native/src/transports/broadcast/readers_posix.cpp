#include "transports/broadcast/readers_posix.hpp"

#include "shared_memory/waiting.hpp"

#include <sys/socket.h>

namespace ipc::broadcast {

Status Readers::open() {
    // Some memory of zeros holds the addresses until readers' own pages take its place.
    posix::Descriptor zeros;
    if (Status s = shared_memory::make_sealed_memory(most_readers * page_bytes, &zeros)) return s;
    return shared_memory::map_memory(zeros, most_readers * page_bytes, shared_memory::Access::read_write, &pages_);
}

bool Readers::admit(const Join& join, const posix::Descriptor& page_file, uint64_t position, int socket,
                    unsigned* place) {
    const auto first_free = static_cast<unsigned>(std::countr_one(taken_));
    if (first_free == most_readers ||
        shared_memory::map_memory_over(&page(first_free), page_file, page_bytes) != IPC_OK)
        return false;
    const uint64_t bit = uint64_t{1} << first_free;
    taken_ |= bit;
    if (join.policy == static_cast<uint32_t>(Policy::wait)) waited_for_ |= bit;
    cursors_[first_free] = position;
    sockets_[first_free] = socket;
    page(first_free).cursor.store(position, std::memory_order_relaxed);
    if (join.waits_by != static_cast<uint32_t>(shared_memory::WaitsBy::spinning))
        parking_.fetch_or(bit, std::memory_order_release);
    present_.fetch_or(bit, std::memory_order_release);
    *place = first_free;
    return true;
}

void Readers::forget(unsigned place) {
    const uint64_t others = ~(uint64_t{1} << place);
    waited_for_ &= others;
    parking_.fetch_and(others, std::memory_order_relaxed);
    present_.fetch_and(others, std::memory_order_relaxed);
}

void Readers::remove(unsigned place) {
    forget(place);
    taken_ &= ~(uint64_t{1} << place);
    // The page stays mapped until the next reader gets the place; the publisher may be asleep on it.
    wake_publisher();
}

void Readers::wake_publisher() {
    for (unsigned place = 0; place < most_readers; ++place)
        if (page(place).room_wanted.exchange(0, std::memory_order_seq_cst) != 0)
            shared_memory::futex_wake_all(page(place).room_wanted);
}

Readers::Room Readers::room(uint64_t published, uint64_t ring_bytes) {
    Room room{published + ring_bytes, -1};
    for (uint64_t left = waited_for_; left != 0; left &= left - 1) {
        const auto place = static_cast<unsigned>(std::countr_zero(left));
        // Acquire: the reader's copying is over before its bytes are overwritten.
        const uint64_t cursor = page(place).cursor.load(std::memory_order_acquire);
        if (cursor - cursors_[place] > published - cursors_[place]) {
            forget(place);
            shutdown(sockets_[place], SHUT_RDWR); // the admitting thread finds the end and removes it
            continue;
        }
        cursors_[place] = cursor;
        if (ahead(cursor + ring_bytes, room.limit) < 0 || room.slowest < 0)
            room = {cursor + ring_bytes, static_cast<int>(place)};
    }
    return room;
}

} // namespace ipc::broadcast
