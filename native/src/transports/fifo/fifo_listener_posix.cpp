#include "transports/fifo/fifo_listener_posix.hpp"

#include "core/wait_for_change.hpp"
#include "posix/accept.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace ipc {
namespace {

using posix::Descriptor;

// How long a client may take for its last step of the handshake, and how many may be at it. When they are too many the oldest goes, but
// each has the shortest time at least; meanwhile new ones wait in the FIFO.
constexpr int64_t longest_handshake_ms = 2000;
constexpr int64_t shortest_handshake_ms = 20;
constexpr size_t most_handshakes = 128;
constexpr int most_reads = 4096;
constexpr int most_at_once = 64; // records in one look, so that those who answer are not kept waiting

int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now().time_since_epoch()).count();
}

bool has_bytes(int fifo) {
    int count = 0;
    return ioctl(fifo, FIONREAD, &count) == 0 && count > 0;
}

// Whether nobody reads any more what would be written here.
bool has_lost_reader(int fifo) {
    pollfd entry{fifo, 0, 0};
    return poll(&entry, 1, 0) > 0;
}

} // namespace

Status FifoListener::open() {
    if (Status status = interrupt_.open(); status != IPC_OK) return status;
    Descriptor lock;
    if (Status status = posix::lock_names(&lock); status != IPC_OK) return status;
    if (Status status = take_name(); status != IPC_OK) return status;
    remove_dead_pairs(path_);
    // Open for writing as well: without a writer of its own it would meet an end whenever a client leaves.
    Descriptor made = open_fifo(path_, O_RDWR);
    if (!made || !posix::identify(path_, &identity_)) {
        const int error = errno;
        unlink(path_.c_str());
        return fail_system(IPC_SYSTEM, error, "cannot listen at %s (%s)", address(), path_.c_str());
    }
    handshake_fifo_ = std::move(made);
    return IPC_OK;
}

// With the names locked.
Status FifoListener::take_name() {
    if (mkfifo(path_.c_str(), 0600) == 0) return IPC_OK;
    if (errno == EEXIST && remove_dead_fifo(path_) && mkfifo(path_.c_str(), 0600) == 0) return IPC_OK;
    const int error = errno;
    struct stat status {};
    if (lstat(path_.c_str(), &status) != 0)
        return fail_system(IPC_SYSTEM, error, "cannot make the FIFO %s for %s", path_.c_str(), address());
    if (status.st_uid != geteuid())
        return fail(IPC_NO_PERMISSION, "cannot listen at %s: %s belongs to user %u; choose another name", address(),
                    path_.c_str(), status.st_uid);
    if (!S_ISFIFO(status.st_mode))
        return fail(IPC_NAME_IN_USE, "cannot listen at %s: %s is not a FIFO; remove it or choose another name",
                    address(), path_.c_str());
    if (!open_fifo(path_, O_WRONLY) && posix::is_shortage(errno))
        return fail_system(IPC_SYSTEM, errno, "cannot find out whether another listener has the name of %s", address());
    return fail(IPC_NAME_IN_USE, "cannot listen at %s: another listener has this name; close it or choose another name",
                address());
}

Status FifoListener::closed_here() const {
    return fail(IPC_CLOSED, "the listener at %s was closed here", address_.text().c_str());
}

Status FifoListener::nobody_came() const {
    return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address_.text().c_str());
}

// One thread looks at all that goes on; the others wait for what it finds, and one of them goes on looking when it leaves.
Status FifoListener::accept(const Deadline& deadline, FrameChannel** channel) {
    const std::shared_lock using_fifo(in_use_);
    const posix::Patience patience(deadline);
    posix::Backoff backoff;
    std::unique_lock lock(mutex_);
    while (true) {
        if (interrupt_.raised()) return closed_here();
        if (!ready_.empty()) {
            *channel = ready_.front().release();
            ready_.pop_front();
            return IPC_OK;
        }
        if (somebody_looks_) {
            if (deadline.expired()) return nobody_came();
            wait_for_change(changed_, lock, deadline);
            continue;
        }
        somebody_looks_ = true;
        lock.unlock();
        const Status status = look(deadline, &backoff);
        lock.lock();
        somebody_looks_ = false;
        changed_.notify_all();
        if (status == IPC_OK && !patience.is_over()) continue;
        if (status == IPC_CLOSED || !ready_.empty()) continue;
        return status == IPC_OK || status == IPC_TIMED_OUT ? nobody_came() : status;
    }
}

// IPC_OK: look again. Anything else ends accept.
Status FifoListener::look(const Deadline& deadline, posix::Backoff* backoff) {
    std::vector<pollfd> entries{{interrupt_.descriptor(), POLLIN, 0},
                                {has_room() ? handshake_fifo_.get() : -1, POLLIN, 0}};
    for (const Handshake& handshake : handshakes_) {
        entries.push_back({handshake.stream->reading(), POLLIN, 0});
        // Has nothing to report but the loss of its reader, the client.
        entries.push_back({handshake.stream->writing(), 0, 0});
    }
    const int wait = postponed_.empty() || !has_room() ? wait_ms(deadline) : 0;
    const int count = poll(entries.data(), entries.size(), wait);
    if (count < 0) {
        if (errno == EINTR) return IPC_OK;
        return fail_system(IPC_SYSTEM, errno, "cannot wait for clients at %s", address());
    }
    if (entries[0].revents != 0) return IPC_CLOSED;
    Status failed = IPC_OK;
    finish_handshakes(entries);
    if (entries[1].revents != 0 || !postponed_.empty()) failed = begin_handshakes();
    if (failed == IPC_OK) return count == 0 && deadline.expired() ? IPC_TIMED_OUT : IPC_OK;
    if (failed != IPC_SYSTEM) return failed;
    // What silent clients hold comes back with the next of them that has had its time: no failure of the one who accepts.
    const bool will_pass = !handshakes_.empty();
    if (drop_handshakes((handshakes_.size() + 1) / 2)) *backoff = {};
    if (backoff->wait(interrupt_, deadline) != IPC_TIMED_OUT) return IPC_OK;
    return will_pass ? IPC_TIMED_OUT : failed;
}

// Until the deadline, the end of the oldest handshake, or the time when one may make room.
int FifoListener::wait_ms(const Deadline& deadline) const {
    const int left_ms = deadline.left_ms();
    if (handshakes_.empty()) return left_ms;
    const bool is_full = handshakes_.size() >= most_handshakes;
    const int64_t end_ms =
        is_full ? next_to_drop().began_ms + shortest_handshake_ms : handshakes_.front().began_ms + longest_handshake_ms;
    const int64_t next_ms = std::max<int64_t>(end_ms - now_ms(), 0) + 1;
    return left_ms < 0 ? static_cast<int>(next_ms) : static_cast<int>(std::min<int64_t>(left_ms, next_ms));
}

bool FifoListener::has_room() const {
    return handshakes_.size() < most_handshakes || next_to_drop().began_ms + shortest_handshake_ms <= now_ms();
}

// Those that have answered are through; those that have left or been silent for too long are forgotten.
void FifoListener::finish_handshakes(const std::vector<pollfd>& entries) {
    const int64_t now = now_ms();
    std::vector<Handshake> going_on;
    for (size_t i = 0; i < handshakes_.size(); ++i) {
        Handshake& handshake = handshakes_[i];
        const bool left = entries[3 + 2 * i].revents != 0;
        const bool late = now - handshake.began_ms >= longest_handshake_ms;
        Greeting greeting = Greeting::awaited;
        if (late)
            greeting = withdraw(&handshake);
        else if (entries[2 + 2 * i].revents != 0)
            greeting = read_fifo_greeting(handshake.stream->reading());
        if (greeting == Greeting::here)
            finish_handshake(std::move(handshake));
        else if (greeting == Greeting::awaited && !left && !late)
            going_on.push_back(std::move(handshake));
    }
    handshakes_ = std::move(going_on);
}

// Of one that has answered: a channel, unless it left again without a message.
void FifoListener::finish_handshake(Handshake handshake) {
    if (has_lost_reader(handshake.stream->writing()) && !has_bytes(handshake.stream->reading())) return;
    std::unique_ptr<FrameChannel> channel(make_fifo_channel(address_, std::move(handshake.stream)));
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(channel));
}

// To be asked before a client is let go: one that has not opened `.up` by now cannot any more and comes again (none); one that has is about
// to answer (awaited), or has answered.
Greeting FifoListener::withdraw(Handshake* handshake) {
    handshake->pair.reset();
    const Greeting greeting = read_fifo_greeting(handshake->stream->reading());
    handshake->opened = greeting == Greeting::awaited;
    return greeting;
}

// Those that are about to answer come last, because they will take themselves for connected.
const FifoListener::Handshake& FifoListener::next_to_drop() const {
    const auto next = std::find_if(handshakes_.begin(), handshakes_.end(),
                                   [](const Handshake& handshake) { return !handshake.opened; });
    return next != handshakes_.end() ? *next : handshakes_.front();
}

// Makes room for others: lets go of `most` of those that have had the shortest time, the oldest first; false if there are none.
bool FifoListener::drop_handshakes(size_t most) {
    if (handshakes_.empty()) return false;
    const int64_t latest_ms = now_ms() - shortest_handshake_ms;
    const bool all_opened = next_to_drop().opened; // any of them may be silent, too
    std::vector<Handshake> going_on;
    for (size_t i = 0; i < handshakes_.size(); ++i) {
        Handshake& handshake = handshakes_[i];
        const bool enough = i - going_on.size() == most;
        Greeting greeting = Greeting::awaited;
        if (!enough && handshake.began_ms <= latest_ms && (all_opened || !handshake.opened)) {
            greeting = withdraw(&handshake);
            if (all_opened && greeting == Greeting::awaited) greeting = Greeting::none;
        }
        if (greeting == Greeting::here)
            finish_handshake(std::move(handshake));
        else if (greeting == Greeting::awaited)
            going_on.push_back(std::move(handshake));
    }
    const bool dropped = going_on.size() < handshakes_.size();
    handshakes_ = std::move(going_on);
    return dropped;
}

Status FifoListener::begin_handshakes() {
    std::string token = std::move(postponed_);
    postponed_.clear();
    for (int i = 0; i < most_at_once && has_room() && (!token.empty() || next_token(&token)); ++i) {
        if (handshakes_.size() >= most_handshakes && !drop_handshakes(1)) break;
        if (Status status = begin_handshake(token); status != IPC_OK) {
            postponed_ = std::move(token);
            return status;
        }
        token.clear();
    }
    postponed_ = std::move(token); // there was no room
    return IPC_OK;
}

// A client that has left or misbehaves is not the server's failure.
Status FifoListener::begin_handshake(const std::string& token) {
    auto pair = std::make_unique<FifoPair>(path_, token);
    Descriptor down = open_fifo(pair->down(), O_WRONLY);
    Descriptor up = down ? open_fifo(pair->up(), O_RDONLY) : Descriptor();
    if (!up && posix::is_shortage(errno)) {
        pair->leave_names();
        return fail_system(IPC_SYSTEM, errno, "cannot accept a client at %s", address());
    }
    if (!up) return IPC_OK;
    auto stream = std::make_unique<FifoStream>(std::move(up), std::move(down), "");
    if (Status status = stream->open(); status != IPC_OK) {
        pair->leave_names();
        return status;
    }
    if (!write_fifo(stream->writing(), &fifo_greeting, 1)) return IPC_OK;
    handshakes_.push_back({std::move(pair), std::move(stream), now_ms()});
    return IPC_OK;
}

// False when none has arrived as a whole.
bool FifoListener::next_token(std::string* token) {
    for (int reads = 0; !find_record(token); ++reads) {
        if (reads == most_reads) return false; // somebody writes nonsense faster than it is passed over
        const ssize_t count =
            read(handshake_fifo_.get(), arrived_.data() + arrived_count_, arrived_.size() - arrived_count_);
        if (count <= 0) return false;
        arrived_count_ += static_cast<size_t>(count);
    }
    return true;
}

// Takes the record out of what has arrived. Anything can have been written there: what is no record is passed over
// until one may begin.
bool FifoListener::find_record(std::string* token) {
    if (arrived_count_ < fifo_record_size) return false;
    const bool found = read_fifo_record(arrived_.data(), token);
    char* const end = arrived_.data() + fifo_record_size;
    const char* const rest = found ? end : std::find(arrived_.data() + 1, end, fifo_record_start);
    arrived_count_ = static_cast<size_t>(end - rest);
    std::memmove(arrived_.data(), rest, arrived_count_);
    return found;
}

void FifoListener::close() {
    if (!interrupt_.raise()) return;
    {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
    }
    const std::unique_lock alone(in_use_);
    if (!handshake_fifo_) return;
    posix::remove_name(path_, identity_);
    handshake_fifo_.reset();
    handshakes_.clear();
    ready_.clear();
    Descriptor lock;
    if (posix::lock_names(&lock) == IPC_OK) remove_dead_pairs(path_);
}

} // namespace ipc
