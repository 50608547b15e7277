#include "transports/boost_mq/queue_posix.hpp"

#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/shared_memory_object.hpp>
#include <cerrno>
#include <type_traits>

namespace ipc::boost_mq {
namespace {

namespace bi = boost::interprocess;

using Header = bi::ipcdetail::mq_hdr_t<bi::offset_ptr<void>>;
using Creation = bi::ipcdetail::managed_open_or_create_impl<bi::shared_memory_object, 0, true, false>;

// Boost's mutex is a pthread mutex and nothing else, unless its emulation was asked for.
static_assert(sizeof(bi::interprocess_mutex) == sizeof(pthread_mutex_t));

boost::posix_time::ptime in(int64_t nanoseconds) {
    return boost::posix_time::microsec_clock::universal_time() +
           boost::posix_time::microseconds(nanoseconds / 1000 + 1);
}

} // namespace

Status Queue::create(const std::string& name, size_t depth, size_t fragment_bytes, std::unique_ptr<Queue>* queue) {
    auto made = std::make_unique<Queue>();
    try {
        bi::permissions only_this_user(0600);
        made->queue_.emplace(bi::create_only, name.c_str(), depth, fragment_bytes, only_this_user);
        Status status = made->map_header(name, depth, fragment_bytes);
        if (!status) status = made->make_robust();
        if (status) {
            remove(name);
            return status;
        }
    } catch (const bi::interprocess_exception& e) {
        return fail(IPC_SYSTEM, "Boost.Interprocess cannot make the message queue %s of %zu x %zu bytes: %s",
                    name.c_str(), depth, fragment_bytes, e.what());
    }
    *queue = std::move(made);
    return IPC_OK;
}

Status Queue::open(const std::string& name, size_t depth, size_t fragment_bytes, std::unique_ptr<Queue>* queue) {
    auto made = std::make_unique<Queue>();
    try {
        made->queue_.emplace(bi::open_only, name.c_str());
        if (Status s = made->map_header(name, depth, fragment_bytes)) return s;
    } catch (const bi::interprocess_exception& e) {
        return fail(IPC_SYSTEM, "Boost.Interprocess cannot open the server's message queue %s: %s", name.c_str(),
                    e.what());
    }
    *queue = std::move(made);
    return IPC_OK;
}

void Queue::remove(const std::string& name) {
    bi::message_queue::remove(name.c_str());
}

Status Queue::map_header(const std::string& name, size_t depth, size_t fragment_bytes) {
    constexpr size_t offset = Creation::ManagedOpenOrCreateUserOffset;
    const bi::shared_memory_object memory(bi::open_only, name.c_str(), bi::read_write);
    header_ = bi::mapped_region(memory, bi::read_write, 0, offset + sizeof(Header));
    auto* header = reinterpret_cast<Header*>(static_cast<char*>(header_.get_address()) + offset);
    // Also tells whether this version of Boost lays the queue out as the one this was written for.
    if (queue_->get_max_msg() != depth || queue_->get_max_msg_size() != fragment_bytes ||
        header->m_max_num_msg != depth || header->m_max_msg_size != fragment_bytes)
        return fail(IPC_NOT_OUR_PROTOCOL, "the message queue %s is not of %zu x %zu bytes, as agreed", name.c_str(),
                    depth, fragment_bytes);
    mutex_ = reinterpret_cast<pthread_mutex_t*>(&header->m_mutex);
    return IPC_OK;
}

Status Queue::make_robust() {
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error == 0) {
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_destroy(mutex_);
        error = pthread_mutex_init(mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    return error == 0 ? IPC_OK : fail_system(IPC_SYSTEM, error, "cannot make a message queue's mutex robust");
}

// The lock is ours then, or nobody's any more; giving it back as it is tells everybody that the queue cannot be used.
Queue::Outcome Queue::holder_died() {
    if (!dead_) pthread_mutex_unlock(mutex_);
    dead_ = true;
    return Outcome::peer_died;
}

// Boost takes the mutex again at the end of a wait without looking whether its holder died with the queue half changed, but
// giving back a mutex taken so makes it unusable: that can be seen.
bool Queue::is_sound() {
    const int error = pthread_mutex_trylock(mutex_);
    // The holder died only after we were through: what we have is whole, what follows is not.
    if (error == EOWNERDEAD) holder_died();
    if (error == 0) pthread_mutex_unlock(mutex_);
    return error == 0 || error == EBUSY || error == EOWNERDEAD;
}

Queue::Outcome Queue::send(const void* data, size_t length, int64_t patience_ns) {
    if (dead_) return Outcome::peer_died;
    try {
        if (queue_->try_send(data, length, 0)) return Outcome::done;
        if (patience_ns <= 0) return Outcome::timed_out;
        const bool sent = queue_->timed_send(data, length, 0, in(patience_ns));
        if (!is_sound()) return holder_died();
        return sent ? Outcome::done : Outcome::timed_out;
    } catch (const bi::lock_exception&) {
        return holder_died();
    }
}

Queue::Outcome Queue::receive(void* room, size_t capacity, size_t* length, int64_t patience_ns) {
    if (dead_) return Outcome::peer_died;
    try {
        unsigned priority = 0;
        bi::message_queue::size_type got = 0;
        if (queue_->try_receive(room, capacity, got, priority)) {
            *length = got;
            return Outcome::done;
        }
        if (patience_ns <= 0) return Outcome::timed_out;
        const bool received = queue_->timed_receive(room, capacity, got, priority, in(patience_ns));
        if (!is_sound()) return holder_died();
        *length = got;
        return received ? Outcome::done : Outcome::timed_out;
    } catch (const bi::lock_exception&) {
        return holder_died();
    }
}

} // namespace ipc::boost_mq
