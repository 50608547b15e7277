// The C ABI's queues over MessageQueue: checks arguments, keeps exceptions in, and does nothing else.
#include "core/abi_guard.hpp"
#include "core/address.hpp"
#include "core/handle_gate.hpp"
#include "core/registry.hpp"
#include "core/transport.hpp"
#include "ipc/ipc.h"

#include <memory>

using ipc::Deadline;
using ipc::HandleGate;
using ipc::abi::check;
using ipc::abi::check_kind;
using ipc::abi::check_timeout;
using ipc::abi::guarded;
using ipc::abi::quietly;

struct ipc_queue {
    std::unique_ptr<ipc::MessageQueue> queue;
    HandleGate gate;
    ipc::SharedDoors doors;
};

namespace {

ipc_status check_queue(const ipc_queue* queue, const void* memory, size_t length, int32_t timeout_ms,
                       const char* function) {
    if (queue != nullptr && timeout_ms >= IPC_FOREVER && (memory != nullptr || length == 0)) [[likely]]
        return IPC_OK;
    if (queue == nullptr) return check(false, function, "the queue is NULL");
    if (timeout_ms < IPC_FOREVER) return check_timeout(timeout_ms, function);
    return check(false, function, "the memory is NULL but its length is not 0");
}

// As HandleGate::pass, by this thread's door if it has one.
template <class Work, class... Given>
ipc_status inside(ipc_queue* queue, Work work, Given... given) noexcept {
    HandleGate::Door* const door = queue->doors.mine();
    if (door == nullptr) [[unlikely]]
        return queue->gate.pass_counted(work, queue, given...);
    return queue->gate.pass(*door, work, queue, given...);
}

} // namespace

extern "C" {

ipc_status ipc_queue_open(const char* address_text, int32_t timeout_ms, ipc_queue** queue) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(address_text != nullptr && queue != nullptr, "ipc_queue_open", "an argument is NULL"));
        IPC_CHECK(check_timeout(timeout_ms, "ipc_queue_open"));
        *queue = nullptr;
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(check_kind(address, transport->open_queue != nullptr, "ipc_queue_open"));
        auto made = std::make_unique<ipc_queue>();
        ipc::MessageQueue* opened = nullptr;
        IPC_CHECK(transport->open_queue(address, Deadline(timeout_ms), &opened));
        made->queue.reset(opened);
        *queue = made.release();
        return IPC_OK;
    });
}

size_t ipc_queue_limit(const ipc_queue* queue) {
    return queue ? queue->queue->limit() : 0;
}

ipc_status ipc_queue_enqueue(ipc_queue* queue, const void* message, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check_queue(queue, message, length, timeout_ms, "ipc_queue_enqueue"));
    return inside(
        queue,
        [](ipc_queue* into, const void* what, size_t bytes, int32_t within_ms) noexcept {
            return guarded([&] { return into->queue->enqueue(what, bytes, Deadline(within_ms)); });
        },
        message, length, timeout_ms);
}

ipc_status ipc_queue_dequeue(ipc_queue* queue, void* buffer, size_t capacity, size_t* length, int32_t timeout_ms) {
    IPC_CHECK(check_queue(queue, buffer, capacity, timeout_ms, "ipc_queue_dequeue"));
    IPC_CHECK(check(length != nullptr, "ipc_queue_dequeue", "length is NULL"));
    return inside(
        queue,
        [](ipc_queue* out_of, void* to, size_t room, size_t* bytes, int32_t within_ms) noexcept {
            return guarded([&] { return out_of->queue->dequeue(to, room, bytes, Deadline(within_ms)); });
        },
        buffer, capacity, length, timeout_ms);
}

void ipc_queue_close(ipc_queue* queue) {
    if (queue == nullptr) return;
    const HandleGate::Visit visit(queue->gate);
    quietly([&] { queue->queue->close(); });
}

void ipc_queue_free(ipc_queue* queue) {
    if (queue == nullptr) return;
    ipc_queue_close(queue);
    queue->gate.await_empty(queue->doors.all());
    quietly([&] { delete queue; });
}

ipc_status ipc_queue_remove(const char* address_text) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(address_text != nullptr, "ipc_queue_remove", "the address is NULL"));
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(check_kind(address, transport->remove_queue != nullptr, "ipc_queue_remove"));
        return transport->remove_queue(address);
    });
}

} // extern "C"
