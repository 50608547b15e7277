#include "transports/broadcast/admission_posix.hpp"

#include "shared_memory/handover.hpp"
#include "shared_memory/sealed_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <system_error>

namespace ipc::broadcast {
namespace {

// A subscriber speaks right after it has connected; who stays silent for so long keeps a place among the pending connections from others.
constexpr std::chrono::seconds pending_patience{2};
constexpr size_t most_pending = 64;

// The thread must not run the program's signal handlers.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

// The join, if that is all the pending connection said.
bool receive_join(int socket, Join* join) {
    posix::Descriptor none;
    size_t descriptors = 0;
    const long got = shared_memory::receive_with_descriptors(socket, join, sizeof *join, &none, 0, &descriptors);
    return got == static_cast<long>(sizeof *join) && descriptors == 0 && join->magic == join_magic &&
           join->version == shared_memory::version &&
           (join->policy == static_cast<uint32_t>(Policy::wait) || join->policy == static_cast<uint32_t>(Policy::drop));
}

} // namespace

Admission::~Admission() {
    close();
    if (thread_.joinable()) thread_.join();
}

Status Admission::open(const posix::LocalName& name, posix::Descriptor data) {
    data_ = std::move(data);
    if (Status s = posix::LocalListener::open(name, &listener_)) return s;
    const SignalsBlocked blocked;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& e) {
        return fail_system(IPC_SYSTEM, e.code().value(), "cannot start a thread that admits the subscribers of %s",
                           name.address.c_str());
    }
    return IPC_OK;
}

void Admission::close() {
    if (listener_) listener_->close();
}

void Admission::run() {
    std::vector<pollfd> entries;
    while (!listener_->closed()) {
        entries.assign(1, {listener_->descriptor(), POLLIN, 0});
        for (const PendingConnection& pending : pending_) entries.push_back({pending.socket.get(), POLLIN, 0});
        for (const Reader& reader : present_) entries.push_back({reader.socket.get(), POLLIN, 0});
        // Looking at the silent pending connections again soon is exact enough, and with none there is nothing to wake up for.
        if (poll(entries.data(), entries.size(), pending_.empty() ? -1 : 100) < 0) continue;

        // Backwards, so that what is taken out does not move what is still to be looked at.
        const size_t pending_count = pending_.size();
        for (size_t i = present_.size(); i-- > 0;) {
            if (entries[1 + pending_count + i].revents == 0) continue;
            // Gone, or speaking where nothing is to be said: either way this is the end.
            remove(present_[i]);
            present_.erase(present_.begin() + static_cast<ptrdiff_t>(i));
        }
        for (size_t i = pending_count; i-- > 0;) {
            if (entries[1 + i].revents == 0) continue;
            PendingConnection pending = std::move(pending_[i]);
            pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(i));
            welcome(std::move(pending));
        }
        send_away_the_silent();
        if (entries[0].revents != 0) accept_pending();
    }
    for (const Reader& reader : present_) remove(reader);
    present_.clear();
    pending_.clear();
}

void Admission::accept_pending() {
    while (true) {
        posix::Descriptor socket;
        const Status status = listener_->accept(Deadline(0), &socket);
        if (status == IPC_OK) {
            if (pending_.size() == most_pending) pending_.erase(pending_.begin());
            pending_.push_back({std::move(socket), std::chrono::steady_clock::now()});
            continue;
        }
        // Out of descriptors: the pending connection keeps the listener readable, so give others time to close some.
        if (status != IPC_TIMED_OUT && status != IPC_CLOSED) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return;
    }
}

void Admission::send_away_the_silent() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(pending_, [&](const PendingConnection& pending) { return now - pending.came > pending_patience; });
}

void Admission::welcome(PendingConnection pending) {
    Join join{};
    unsigned place = 0;
    if (receive_join(pending.socket.get(), &join) && admit(join, pending.socket.get(), &place))
        present_.push_back({std::move(pending.socket), place});
}

bool Admission::admit(const Join& join, int socket, unsigned* place) {
    posix::Descriptor page;
    Greeting greeting{shared_memory::handover_magic, shared_memory::version, layout_broadcast, 0, 0, 0};
    if (shared_memory::make_sealed_memory(page_bytes, &page) != IPC_OK) return false;
    bool admitted;
    {
        std::lock_guard lock(readers_.mutex());
        const Start start = start_();
        greeting.position = start.position;
        greeting.number = start.number;
        admitted = readers_.admit(join, page, start.position, socket, place);
    }
    const int descriptors[] = {data_.get(), page.get()};
    greeting.answer = static_cast<uint32_t>(admitted ? Answer::welcome : Answer::full);
    const int error =
        shared_memory::send_with_descriptors(socket, &greeting, sizeof greeting, descriptors, admitted ? 2 : 0);
    if (admitted && error != 0) {
        std::lock_guard lock(readers_.mutex());
        readers_.remove(*place);
        return false;
    }
    return admitted;
}

void Admission::remove(const Reader& reader) {
    std::lock_guard lock(readers_.mutex());
    readers_.remove(reader.place);
}

} // namespace ipc::broadcast
