// The C ABI over the library's insides: checks arguments, keeps exceptions in, and does nothing else.
#include "core/abi_guard.hpp"
#include "core/address.hpp"
#include "core/channel_handle.hpp"
#include "core/frame_channel.hpp"
#include "core/handle_gate.hpp"
#include "core/out_of_line.hpp"
#include "core/registry.hpp"
#include "core/transport.hpp"
#include "ipc/ipc.h"

#include <memory>

using ipc::Deadline;
using ipc::abi::check;
using ipc::abi::check_timeout;
using ipc::abi::guarded;
using ipc::abi::mistake;
using ipc::abi::quietly;

using ipc::HandleGate;

struct ipc_listener {
    std::unique_ptr<ipc::FrameListener> frames;
    HandleGate gate;
};

namespace {

// For functions on a channel: a handle, a sane time-out, and memory wherever there is a length.
bool is_sound(const ipc_channel* channel, const void* memory, size_t length, int32_t timeout_ms) {
    return channel != nullptr && timeout_ms >= IPC_FOREVER && (memory != nullptr || length == 0);
}
// What is wrong where that is false.
IPC_OUT_OF_LINE ipc_status unsound(const ipc_channel* channel, int32_t timeout_ms, const char* function) {
    if (channel == nullptr) return mistake(function, "the channel is NULL");
    if (timeout_ms < IPC_FOREVER) return check_timeout(timeout_ms, function);
    return mistake(function, "the memory is NULL but its length is not 0");
}

void free_now(ipc_channel* channel) {
    channel->await_empty();
    delete channel;
}

} // namespace

extern "C" {

// ---- making channels

ipc_status ipc_listen(const char* address_text, ipc_listener** listener) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(address_text != nullptr && listener != nullptr, "ipc_listen", "an argument is NULL"));
        *listener = nullptr;
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(ipc::abi::check_kind(address, transport->listen != nullptr, "ipc_listen"));
        auto made = std::make_unique<ipc_listener>();
        ipc::FrameListener* frames = nullptr;
        IPC_CHECK(transport->listen(address, &frames));
        made->frames.reset(frames);
        *listener = made.release();
        return IPC_OK;
    });
}

const char* ipc_listener_address(const ipc_listener* listener) {
    return listener ? listener->frames->address() : "";
}

ipc_status ipc_accept(ipc_listener* listener, int32_t timeout_ms, ipc_channel** channel) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(listener != nullptr && channel != nullptr, "ipc_accept", "an argument is NULL"));
        IPC_CHECK(check_timeout(timeout_ms, "ipc_accept"));
        *channel = nullptr;
        ipc::FrameChannel* frames = nullptr;
        const HandleGate::Visit visit(listener->gate);
        IPC_CHECK(listener->frames->accept(Deadline(timeout_ms), &frames));
        *channel = ipc::make_handle(std::unique_ptr<ipc::FrameChannel>(frames)).release();
        return IPC_OK;
    });
}

void ipc_listener_close(ipc_listener* listener) {
    if (listener == nullptr) return;
    const HandleGate::Visit visit(listener->gate);
    quietly([&] { listener->frames->close(); });
}

void ipc_listener_free(ipc_listener* listener) {
    if (listener == nullptr) return;
    ipc_listener_close(listener);
    listener->gate.await_empty();
    quietly([&] { delete listener; });
}

ipc_status ipc_connect(const char* address_text, int32_t timeout_ms, ipc_channel** channel) {
    return guarded([&]() -> ipc_status {
        IPC_CHECK(check(address_text != nullptr && channel != nullptr, "ipc_connect", "an argument is NULL"));
        IPC_CHECK(check_timeout(timeout_ms, "ipc_connect"));
        *channel = nullptr;
        ipc::Address address;
        const ipc::Transport* transport;
        IPC_CHECK(ipc::Address::parse(address_text, &address));
        IPC_CHECK(ipc::find_implementation(address.transport(), &transport));
        IPC_CHECK(ipc::abi::check_kind(address, transport->connect != nullptr, "ipc_connect"));
        ipc::FrameChannel* frames = nullptr;
        IPC_CHECK(transport->connect(address, Deadline(timeout_ms), &frames));
        *channel = ipc::make_handle(std::unique_ptr<ipc::FrameChannel>(frames)).release();
        return IPC_OK;
    });
}

void ipc_channel_close(ipc_channel* channel) {
    if (channel != nullptr) channel->close();
}

void ipc_channel_free(ipc_channel* channel) {
    if (channel == nullptr || channel->free_after_serving()) return;
    channel->close();
    quietly([&] { free_now(channel); });
}

ipc_status ipc_channel_fd(ipc_channel* channel, intptr_t* descriptor) {
    if (!is_sound(channel, descriptor, 1, 0)) return unsound(channel, 0, "ipc_channel_fd");
    *descriptor = -1;
    return channel->wait_handle(descriptor);
}

ipc_status ipc_channel_interrupt(ipc_channel* channel, int32_t on) {
    if (channel == nullptr) return mistake("ipc_channel_interrupt", "the channel is NULL");
    return channel->interrupt_receiving(on != 0);
}

size_t ipc_channel_limit(const ipc_channel* channel) {
    return channel ? channel->limit() : 0;
}

// ---- messages

ipc_status ipc_send(ipc_channel* channel, const void* message, size_t length, int32_t timeout_ms) {
    if (!is_sound(channel, message, length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_send");
    return channel->send(message, length, timeout_ms);
}

ipc_status ipc_receive(ipc_channel* channel, void* buffer, size_t capacity, size_t* length, int32_t timeout_ms) {
    if (!is_sound(channel, buffer, capacity, timeout_ms)) return unsound(channel, timeout_ms, "ipc_receive");
    if (length == nullptr) return mistake("ipc_receive", "length is NULL");
    return channel->receive(buffer, capacity, length, timeout_ms);
}

ipc_status ipc_reserve(ipc_channel* channel, size_t length, void** message, int32_t timeout_ms) {
    if (!is_sound(channel, message, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_reserve");
    return channel->reserve(length, message, timeout_ms);
}

ipc_status ipc_commit(ipc_channel* channel, size_t length, int32_t timeout_ms) {
    if (!is_sound(channel, nullptr, 0, timeout_ms)) return unsound(channel, timeout_ms, "ipc_commit");
    return channel->commit(length, timeout_ms);
}

ipc_status ipc_cancel(ipc_channel* channel) {
    if (channel == nullptr) return unsound(channel, 0, "ipc_cancel");
    return channel->cancel();
}

ipc_status ipc_peek(ipc_channel* channel, const void** message, size_t* length, int32_t timeout_ms) {
    if (!is_sound(channel, message, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_peek");
    if (length == nullptr) return mistake("ipc_peek", "length is NULL");
    return channel->peek(message, length, timeout_ms);
}

ipc_status ipc_release(ipc_channel* channel) {
    if (channel == nullptr) return unsound(channel, 0, "ipc_release");
    return channel->release();
}

ipc_status ipc_send_batch(ipc_channel* channel, const void* messages, const uint32_t* lengths, size_t count,
                          size_t* sent, int32_t timeout_ms) {
    if (!is_sound(channel, lengths, count, timeout_ms)) return unsound(channel, timeout_ms, "ipc_send_batch");
    if (sent == nullptr) return mistake("ipc_send_batch", "sent is NULL");
    *sent = 0;
    if (messages == nullptr && count != 0) return mistake("ipc_send_batch", "messages is NULL but count is not 0");
    return channel->send_batch(static_cast<const std::byte*>(messages), lengths, count, sent, timeout_ms);
}

ipc_status ipc_receive_batch(ipc_channel* channel, void* buffer, size_t capacity, uint32_t* lengths, size_t max_count,
                             size_t* count, int32_t timeout_ms) {
    if (!is_sound(channel, buffer, capacity, timeout_ms)) return unsound(channel, timeout_ms, "ipc_receive_batch");
    if (count == nullptr || lengths == nullptr) return mistake("ipc_receive_batch", "lengths or count is NULL");
    *count = 0;
    if (max_count == 0) return mistake("ipc_receive_batch", "max_count is 0");
    return channel->receive_batch(static_cast<std::byte*>(buffer), capacity, lengths, max_count, count, timeout_ms);
}

// ---- calls

ipc_status ipc_call(ipc_channel* channel, const void* request, size_t request_length, void* reply,
                    size_t reply_capacity, size_t* reply_length, int32_t timeout_ms) {
    if (!is_sound(channel, request, request_length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_call");
    if (reply == nullptr && reply_capacity != 0) return mistake("ipc_call", "reply is NULL but its capacity is not 0");
    if (reply_length == nullptr) return mistake("ipc_call", "reply_length is NULL");
    return channel->call(request, request_length, reply, reply_capacity, reply_length, timeout_ms);
}

ipc_status ipc_receive_reply(ipc_channel* channel, void* reply, size_t capacity, size_t* length, int32_t timeout_ms) {
    if (!is_sound(channel, reply, capacity, timeout_ms)) return unsound(channel, timeout_ms, "ipc_receive_reply");
    if (length == nullptr) return mistake("ipc_receive_reply", "length is NULL");
    return channel->receive_kept_reply(reply, capacity, length, timeout_ms);
}

ipc_status ipc_call_peek(ipc_channel* channel, const void* request, size_t request_length, const void** reply,
                         size_t* reply_length, int32_t timeout_ms) {
    if (!is_sound(channel, request, request_length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_call_peek");
    if (reply == nullptr || reply_length == nullptr) return mistake("ipc_call_peek", "an argument is NULL");
    return channel->call_in_place(request, request_length, reply, reply_length, timeout_ms);
}

ipc_status ipc_reply_reserve(ipc_reply_writer* writer, size_t length, void** reply) {
    if (writer == nullptr || reply == nullptr) return mistake("ipc_reply_reserve", "an argument is NULL");
    using Room = ipc_reply_writer::Room;
    if (writer->ready != nullptr && length <= writer->ready_length && writer->ready_length != 0 &&
        writer->room == Room::none) [[likely]] {
        writer->room = Room::ready;
        writer->length = length;
        *reply = writer->ready;
        return IPC_OK;
    }
    return guarded([&]() -> ipc_status {
        writer->room = Room::none; // a second room takes the place of the first, also when there is none to be had
        writer->ready_length = 0;  // and how much was written to the first one is not known any more
        IPC_CHECK(writer->channel->reserve_for_handler(length, reply));
        writer->room = Room::reserved;
        writer->length = length;
        return IPC_OK;
    });
}

ipc_status ipc_reply_fail(ipc_reply_writer* writer, const char* text) {
    IPC_CHECK(check(writer != nullptr && text != nullptr, "ipc_reply_fail", "an argument is NULL"));
    return guarded([&]() -> ipc_status {
        writer->failure = text;
        return IPC_OK;
    });
}

ipc_status ipc_serve(ipc_channel* channel, ipc_handler handler, void* user) {
    if (channel == nullptr) return unsound(channel, 0, "ipc_serve");
    if (handler == nullptr) return mistake("ipc_serve", "the handler is NULL");
    bool free_it = false;
    const ipc_status ended = channel->serve(handler, user, &free_it);
    if (free_it) quietly([&] { free_now(channel); });
    return ended;
}

ipc_status ipc_receive_request(ipc_channel* channel, const void** request, size_t* length, int32_t timeout_ms) {
    if (!is_sound(channel, request, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_receive_request");
    if (length == nullptr) return mistake("ipc_receive_request", "length is NULL");
    return channel->receive_request(request, length, timeout_ms);
}

ipc_status ipc_reply(ipc_channel* channel, const void* reply, size_t length, int32_t timeout_ms) {
    if (!is_sound(channel, reply, length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_reply");
    return channel->reply(reply, length, timeout_ms);
}

ipc_status ipc_reserve_reply(ipc_channel* channel, size_t length, void** reply, int32_t timeout_ms) {
    if (!is_sound(channel, reply, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_reserve_reply");
    return channel->reserve_reply(length, reply, timeout_ms);
}

ipc_status ipc_commit_reply(ipc_channel* channel, size_t length, int32_t timeout_ms) {
    if (!is_sound(channel, nullptr, 0, timeout_ms)) return unsound(channel, timeout_ms, "ipc_commit_reply");
    return channel->commit_reply(length, timeout_ms);
}

ipc_status ipc_fail_request(ipc_channel* channel, const char* text, int32_t timeout_ms) {
    if (!is_sound(channel, text, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_fail_request");
    return channel->fail_request(text, timeout_ms);
}

// ---- many calls in flight

ipc_status ipc_submit(ipc_channel* channel, const void* request, size_t length, uint64_t tag, int32_t timeout_ms) {
    if (!is_sound(channel, request, length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_submit");
    return channel->submit(request, length, tag, timeout_ms);
}

ipc_status ipc_complete(ipc_channel* channel, uint64_t* tag, ipc_status* outcome, void* reply, size_t capacity,
                        size_t* length, int32_t timeout_ms) {
    if (!is_sound(channel, reply, capacity, timeout_ms)) return unsound(channel, timeout_ms, "ipc_complete");
    if (tag == nullptr || outcome == nullptr || length == nullptr)
        return mistake("ipc_complete", "tag, outcome or length is NULL");
    return channel->complete(tag, outcome, reply, capacity, length, timeout_ms);
}

ipc_status ipc_defer_request(ipc_channel* channel, uint64_t* token) {
    if (!is_sound(channel, token, 1, 0)) return unsound(channel, 0, "ipc_defer_request");
    return channel->defer_request(token);
}

ipc_status ipc_reply_deferred(ipc_channel* channel, uint64_t token, const void* reply, size_t length,
                              int32_t timeout_ms) {
    if (!is_sound(channel, reply, length, timeout_ms)) return unsound(channel, timeout_ms, "ipc_reply_deferred");
    return channel->reply_deferred(token, reply, length, timeout_ms);
}

ipc_status ipc_fail_deferred(ipc_channel* channel, uint64_t token, const char* text, int32_t timeout_ms) {
    if (!is_sound(channel, text, 1, timeout_ms)) return unsound(channel, timeout_ms, "ipc_fail_deferred");
    return channel->fail_deferred(token, text, timeout_ms);
}

} // extern "C"
