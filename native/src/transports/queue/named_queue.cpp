#include "transports/queue/named_queue.hpp"

#include "shared_memory/wait_until.hpp"

#include <algorithm>
#include <cstring>

namespace ipc::queue {
namespace {

// Reads a word that others may write meanwhile exactly once.
uint32_t read_once(const std::byte* at) {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(const_cast<std::byte*>(at)))
        .load(std::memory_order_relaxed);
}

void write_word(std::byte* at, uint32_t value) {
    std::memcpy(at, &value, sizeof value);
}

} // namespace

NamedQueue::NamedQueue(std::unique_ptr<QueueFile> file, size_t max, shared_memory::WaitPolicy policy)
    : file_(std::move(file)), header_(file_->header()), data_(file_->data()), size_(file_->size()), mask_(size_ - 1),
      limit_(static_cast<uint32_t>(std::min<size_t>(max, longest_message(size_)))),
      policy_(policy.park_on_one_processor()), writer_lock_(header_.writer_lock, *file_),
      reader_lock_(header_.reader_lock, *file_) {}

Status NamedQueue::enqueue(const void* message, size_t length, const Deadline& deadline) {
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
        return closed_here();
    if (length > limit_) [[unlikely]]
        return fail(IPC_MESSAGE_TOO_LARGE,
                    "a message of %zu bytes is over this queue's limit of %u: raise max=, or make the queue larger "
                    "(size=, of which one "
                    "message may take half)",
                    length, limit_);
    const uint32_t footprint = footprint_of(static_cast<uint32_t>(length));
    while (true) {
        if (Status s = writer_lock_.take(deadline, closed_)) [[unlikely]]
            return s;
        Room room;
        const Found found = find_room(footprint, &room);
        if (found == Found::yes) [[likely]] {
            write_record(room, message, static_cast<uint32_t>(length));
            // Release: whoever sees the new tail sees the whole record. This store is the moment the message exists.
            header_.tail.store(room.tail + room.skipped + footprint, std::memory_order_release);
            writer_lock_.give_back();
            shared_memory::wake_parked(header_.readers_parked, shared_memory::Wake::one);
            return IPC_OK;
        }
        writer_lock_.give_back();
        if (found == Found::damage) return damaged();
        if (Status s =
                wait(header_.writers_parked, deadline, "the queue stayed full for the time-out; nothing was put in",
                     [&] { return may_have_room(footprint); }))
            return s;
    }
}

Status NamedQueue::dequeue(void* buffer, size_t capacity, size_t* length, const Deadline& deadline) {
    if (closed_.load(std::memory_order_relaxed)) [[unlikely]]
        return closed_here();
    while (true) {
        if (!may_have_message()) [[unlikely]]
            if (Status s = wait(header_.readers_parked, deadline, "the queue stayed empty for the time-out",
                                [&] { return may_have_message(); }))
                return s;
        if (Status s = reader_lock_.take(deadline, closed_)) [[unlikely]]
            return s;
        Record record;
        const Found found = find_record(&record);
        if (found == Found::yes) [[likely]] {
            *length = record.length;
            if (record.length > capacity) [[unlikely]] {
                reader_lock_.give_back();
                // We may be the one that was woken for this message, and leave it: another shall come for it.
                shared_memory::wake_parked(header_.readers_parked, shared_memory::Wake::one);
                return fail(IPC_BUFFER_TOO_SMALL,
                            "the message has %u bytes and the buffer %zu: it stays for whoever comes next",
                            record.length, capacity);
            }
            if (record.length != 0) std::memcpy(buffer, record.message, record.length);
            // Release: our reading is over before a writer sees the room. This store is the moment the message is ours.
            header_.head.store(record.after, std::memory_order_release);
            reader_lock_.give_back();
            // All: how much room each of them needs is not known here.
            shared_memory::wake_parked(header_.writers_parked, shared_memory::Wake::all);
            return IPC_OK;
        }
        reader_lock_.give_back();
        if (found == Found::damage) return damaged();
    }
}

void NamedQueue::close() {
    closed_.store(true, std::memory_order_seq_cst);
    // Everybody's waiters wake and look around; those of other handles go back to sleep.
    shared_memory::wake_parked(header_.readers_parked, shared_memory::Wake::all);
    shared_memory::wake_parked(header_.writers_parked, shared_memory::Wake::all);
}

bool NamedQueue::fits(uint32_t used, uint32_t tail, uint32_t footprint, Room* room) const {
    const uint32_t to_end = size_ - (tail & mask_);
    *room = {tail, footprint > to_end ? to_end : 0};
    // No sum overflows: each of the three is at most 2^30.
    return used + room->skipped + footprint <= size_;
}

NamedQueue::Found NamedQueue::find_room(uint32_t footprint, Room* room) {
    const uint32_t tail = header_.tail.load(std::memory_order_relaxed); // only the lock's holder changes it
    // The readers' word is on a line that they write all the time: it is looked at only when the room known of is used up.
    uint32_t used = tail - header_.head_seen.load(std::memory_order_relaxed);
    if (used <= size_ && (tail & 7) == 0 && fits(used, tail, footprint, room)) return Found::yes;
    // Acquire: pairs with the release of head; the readers are done with what we are about to overwrite.
    const uint32_t head = header_.head.load(std::memory_order_acquire);
    used = tail - head;
    if (used > size_ || ((tail | head) & 7) != 0) return Found::damage;
    header_.head_seen.store(head, std::memory_order_relaxed);
    return fits(used, tail, footprint, room) ? Found::yes : Found::no;
}

void NamedQueue::write_record(const Room& room, const void* message, uint32_t length) {
    if (room.skipped != 0) {
        write_word(at(room.tail), skip_to_start);
        write_word(at(room.tail) + 4, room.tail);
    }
    const uint32_t position = room.tail + room.skipped;
    std::byte* record = at(position);
    write_word(record, length);
    write_word(record + 4, position);
    if (length != 0) std::memcpy(record + record_header_bytes, message, length);
}

NamedQueue::Found NamedQueue::find_record(Record* record) {
    uint32_t position = header_.head.load(std::memory_order_relaxed); // only the lock's holder changes it
    uint32_t filled = header_.tail_seen.load(std::memory_order_relaxed) - position;
    if (filled == 0 || filled > size_) {
        // Acquire: pairs with the release of tail. (For a tail that an earlier holder saw, the lock hands its acquire on.)
        const uint32_t tail = header_.tail.load(std::memory_order_acquire);
        filled = tail - position;
        if (filled > size_) return Found::damage;
        header_.tail_seen.store(tail, std::memory_order_relaxed);
        if (filled == 0) return Found::no;
    }
    if (((position | filled) & 7) != 0) return Found::damage;
    uint32_t length = read_once(at(position));
    if (read_once(at(position) + 4) != position) return Found::damage;
    if (length == skip_to_start) {
        const uint32_t to_end = size_ - (position & mask_);
        if (filled <= to_end) return Found::damage; // a skip is published together with its record
        position += to_end;
        filled -= to_end;
        length = read_once(at(position));
        if (read_once(at(position) + 4) != position) return Found::damage;
    }
    if (length > longest_message(size_)) return Found::damage;
    const uint32_t footprint = footprint_of(length);
    if (footprint > filled || footprint > size_ - (position & mask_)) return Found::damage;
    *record = {at(position) + record_header_bytes, length, position + footprint};
    return Found::yes;
}

bool NamedQueue::may_have_message() const {
    // Head first: if the tail loaded after it is the same, the queue was empty at that moment.
    const uint32_t head = header_.head.load(std::memory_order_acquire);
    return header_.tail_seen.load(std::memory_order_relaxed) != head ||
           header_.tail.load(std::memory_order_seq_cst) != head;
}

bool NamedQueue::may_have_room(uint32_t footprint) const {
    const uint32_t tail = header_.tail.load(std::memory_order_relaxed);
    const uint32_t used = tail - header_.head.load(std::memory_order_seq_cst);
    Room room;
    return used > size_ || fits(used, tail, footprint, &room); // nonsense is for the lock's holder to judge
}

template <class Ready>
Status NamedQueue::wait(shared_memory::ParkingWord& parked, const Deadline& deadline, const char* error_message,
                        Ready ready) {
    if (ready()) return IPC_OK;
    if (deadline.expired()) return fail(IPC_TIMED_OUT, "%s", error_message); // who only polls does not spin
    const auto stop = [this](bool) { return closed_.load(std::memory_order_seq_cst) ? IPC_CLOSED : IPC_OK; };
    const auto park = [&](int64_t nanoseconds) {
        const uint32_t announced = shared_memory::announce_parking(parked);
        // If we do not sleep after all: the word says that we do, and the next waker finds nobody and clears it.
        return !ready() && !stop(false) && !shared_memory::futex_wait(parked, announced, nanoseconds);
    };
    const Status status = shared_memory::wait_until(policy_, deadline, ready, stop, park);
    if (status == IPC_TIMED_OUT) return fail(IPC_TIMED_OUT, "%s", error_message);
    return status == IPC_CLOSED ? closed_here() : status;
}

Status NamedQueue::closed_here() const {
    // A waker may have meant this thread, which does not come any more.
    if (may_have_message()) shared_memory::wake_parked(header_.readers_parked, shared_memory::Wake::one);
    return fail(IPC_CLOSED, "this queue was closed here: open it again to go on");
}

Status NamedQueue::damaged() const {
    return fail(IPC_NOT_OUR_PROTOCOL,
                "the queue's memory is damaged: remove it with ipc_queue_remove and open it again");
}

} // namespace ipc::queue
