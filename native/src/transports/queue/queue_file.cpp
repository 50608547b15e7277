#include "transports/queue/queue_file.hpp"

namespace ipc::queue {
namespace {

constexpr int most_participants_tried = 1000;
constexpr uint32_t participant_mask = 0x7FFFFFFF;

} // namespace

Status QueueFile::become_participant(const Address& address) {
    for (int tries = 0; tries < most_participants_tried; ++tries) {
        const uint32_t number = header().next_participant.fetch_add(1, std::memory_order_relaxed) & participant_mask;
        // 0 is nobody. A number that a lock still names is a dead holder's: taking it would bring the holder back to life.
        if (number == 0 || header().writer_lock.load(std::memory_order_relaxed) >> 1 == number ||
            header().reader_lock.load(std::memory_order_relaxed) >> 1 == number)
            continue;
        switch (sign(number)) {
        case Signed::yes:
            participant_ = number;
            return IPC_OK;
        case Signed::failed:
            return IPC_SYSTEM;
        case Signed::taken:
            break;
        }
    }
    return fail(IPC_SYSTEM, "another program keeps the file of the queue %s locked: end it, or remove the queue",
                address.text().c_str());
}

bool QueueFile::is_alive(uint32_t participant) const {
    // A lock never stands in its own holder's way.
    return participant == participant_ || is_signed(participant);
}

} // namespace ipc::queue
