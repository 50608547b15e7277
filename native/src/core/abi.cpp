// The C ABI over the library's insides: checks arguments, keeps exceptions in, and does nothing else.
#include "core/abi_guard.hpp"
#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "core/handle_gate.hpp"
#include "core/registry.hpp"
#include "core/session.hpp"
#include "core/transport.hpp"
#include "ipc/ipc.h"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>

using ipc::Deadline;
using ipc::fail;
using ipc::abi::check;
using ipc::abi::check_timeout;
using ipc::abi::guarded;
using ipc::abi::quietly;

using ipc::HandleGate;

struct ipc_listener {
    std::unique_ptr<ipc::FrameListener> frames;
    HandleGate gate;
};

struct ipc_channel {
    explicit ipc_channel(std::unique_ptr<ipc::FrameChannel> frames) {
        ipc::FrameChannel& self = *frames;
        session = self.make_session(std::move(frames));
    }
    std::unique_ptr<ipc::Session> session;
    std::atomic<bool> closed{false};
    std::atomic<bool> free_after_serving{false};
    std::atomic<std::thread::id> handling{}; // the thread that may be in the handler of ipc_serve
    HandleGate gate;
    std::array<HandleGate::Door, 2> doors; // who sends, who receives
};

struct ipc_reply_writer {
    ipc::Session* session;
    bool reserved = false;
    size_t length = 0;
    std::string failure;
};

namespace {

// For functions on a channel: a handle, a sane time-out, and memory wherever there is a length.
ipc_status check_channel(const ipc_channel* channel, const void* memory, size_t length, int32_t timeout_ms,
                         const char* function) {
    if (channel != nullptr && timeout_ms >= IPC_FOREVER && (memory != nullptr || length == 0)) [[likely]]
        return IPC_OK;
    if (channel == nullptr) return check(false, function, "the channel is NULL");
    if (timeout_ms < IPC_FOREVER) return check_timeout(timeout_ms, function);
    return check(false, function, "the memory is NULL but its length is not 0");
}

ipc_status closed_here(const ipc_channel* channel) {
    if (ipc_status status = channel->session->ended_here()) return status;
    return fail(IPC_CLOSED, "this channel was closed here"); // just now
}

// Whose side of a channel a function is on: at most one thread at a time is on each.
enum Side { sending, receiving };

// Around the work of every function that sends or receives; bodies hold copies of the arguments, because references would keep
// those in memory. ipc_call does both and needs one door: nobody else may send then.
template <class Body, class WhenClosed>
ipc_status by(Side side, ipc_channel* channel, Body body, WhenClosed when_closed) noexcept {
    return channel->gate.pass(channel->doors[side], [channel, body, when_closed]() noexcept {
        if (channel->closed.load(std::memory_order_relaxed)) [[unlikely]] {
            when_closed();
            return guarded([channel] { return closed_here(channel); });
        }
        return guarded(body);
    });
}
template <class Body>
ipc_status by(Side side, ipc_channel* channel, Body body) noexcept {
    return by(side, channel, body, [] {});
}

// The same for what lends a room or ends one: when it fails there is no room any more.
template <class Body>
ipc_status by_with_room(ipc_channel* channel, Body body) noexcept {
    return by(sending, channel, body, [channel] { channel->session->take_room_back(); });
}

// The same for what also a closed channel does.
template <class Body>
ipc_status by_even_closed(Side side, ipc_channel* channel, Body body) noexcept {
    return channel->gate.pass(channel->doors[side], [body]() noexcept { return guarded(body); });
}

void free_now(ipc_channel* channel) {
    channel->gate.await_empty(channel->doors);
    delete channel;
}

// Marks the thread that may be in the channel's handler, which can free the channel and cannot wait for its own end.
class Handling {
  public:
    explicit Handling(ipc_channel* channel) : channel_(channel) { channel_->handling = std::this_thread::get_id(); }
    ~Handling() { channel_->handling = std::thread::id(); }
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

  private:
    ipc_channel* channel_;
};

// ipc_serve. *free_it: the handler has freed the channel, which the caller must do now.
ipc_status serve(ipc_channel* channel, ipc_handler handler, void* user, bool* free_it) noexcept {
    const HandleGate::Visit visit(channel->gate);
    const ipc_status status = guarded([&]() -> ipc_status {
        ipc::Session& session = *channel->session;
        if (channel->closed) return closed_here(channel);
        IPC_CHECK(session.can_serve());
        const Deadline forever(IPC_FOREVER);
        ipc_reply_writer writer{&session, false, 0, {}};
        const auto answer_one = [&]() -> ipc_status {
            const void* request = nullptr;
            size_t length = 0;
            IPC_CHECK(session.receive_request(&request, &length, forever));
            writer.reserved = false;
            writer.failure.clear();
            ipc_status handled = handler(user, request, length, &writer);
            if (handled != IPC_OK || !writer.failure.empty()) {
                if (writer.reserved) session.cancel();
                return session.fail_request(writer.failure.empty() ? ipc_status_text(handled) : writer.failure.c_str(),
                                            forever);
            }
            if (writer.reserved) return session.commit_reply(writer.length, forever);
            return session.reply(nullptr, 0, forever);
        };
        ipc_status ended = IPC_OK;
        if (session.serves_elsewhere())
            ended = session.serve_elsewhere([&] {
                const Handling here(channel);
                return answer_one();
            });
        else
            for (const Handling here(channel); ended == IPC_OK;) ended = answer_one();
        // The client has all it wanted, or left while its answer was under way.
        return ended == IPC_PEER_CLOSED ? IPC_OK : ended;
    });
    *free_it = channel->free_after_serving;
    return status;
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
        *channel = new ipc_channel(std::unique_ptr<ipc::FrameChannel>(frames));
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
        *channel = new ipc_channel(std::unique_ptr<ipc::FrameChannel>(frames));
        return IPC_OK;
    });
}

void ipc_channel_close(ipc_channel* channel) {
    if (channel == nullptr) return;
    const HandleGate::Visit visit(channel->gate);
    channel->closed = true;
    quietly([&] { channel->session->close(); });
}

void ipc_channel_free(ipc_channel* channel) {
    if (channel == nullptr) return;
    if (channel->handling.load() == std::this_thread::get_id()) {
        // From the handler, which cannot wait for its own end: ipc_serve frees when it is out.
        channel->free_after_serving = true;
        ipc_channel_close(channel);
        return;
    }
    ipc_channel_close(channel);
    quietly([&] { free_now(channel); });
}

ipc_status ipc_channel_fd(ipc_channel* channel, intptr_t* descriptor) {
    IPC_CHECK(check_channel(channel, descriptor, 1, 0, "ipc_channel_fd"));
    *descriptor = -1;
    const HandleGate::Visit visit(channel->gate);
    return guarded([&] { return channel->session->wait_handle(descriptor); });
}

size_t ipc_channel_limit(const ipc_channel* channel) {
    return channel ? channel->session->limit() : 0;
}

// ---- messages

ipc_status ipc_send(ipc_channel* channel, const void* message, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, message, length, timeout_ms, "ipc_send"));
    return by(sending, channel, [=] { return channel->session->send(message, length, Deadline(timeout_ms)); });
}

ipc_status ipc_receive(ipc_channel* channel, void* buffer, size_t capacity, size_t* length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, buffer, capacity, timeout_ms, "ipc_receive"));
    IPC_CHECK(check(length != nullptr, "ipc_receive", "length is NULL"));
    return by(receiving, channel,
              [=] { return channel->session->receive(buffer, capacity, length, Deadline(timeout_ms)); });
}

ipc_status ipc_reserve(ipc_channel* channel, size_t length, void** message, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, message, 1, timeout_ms, "ipc_reserve"));
    return by_with_room(channel, [=] { return channel->session->reserve(length, message, Deadline(timeout_ms)); });
}

ipc_status ipc_commit(ipc_channel* channel, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, nullptr, 0, timeout_ms, "ipc_commit"));
    return by_with_room(channel, [=] { return channel->session->commit(length, Deadline(timeout_ms)); });
}

ipc_status ipc_cancel(ipc_channel* channel) {
    IPC_CHECK(check_channel(channel, nullptr, 0, 0, "ipc_cancel"));
    return by_even_closed(sending, channel, [=] { return channel->session->cancel(); });
}

ipc_status ipc_peek(ipc_channel* channel, const void** message, size_t* length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, message, 1, timeout_ms, "ipc_peek"));
    IPC_CHECK(check(length != nullptr, "ipc_peek", "length is NULL"));
    return by(receiving, channel, [=] { return channel->session->peek(message, length, Deadline(timeout_ms)); });
}

ipc_status ipc_release(ipc_channel* channel) {
    IPC_CHECK(check_channel(channel, nullptr, 0, 0, "ipc_release"));
    return by_even_closed(receiving, channel, [=] { return channel->session->release(); });
}

ipc_status ipc_send_batch(ipc_channel* channel, const void* messages, const uint32_t* lengths, size_t count,
                          size_t* sent, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, lengths, count, timeout_ms, "ipc_send_batch"));
    IPC_CHECK(check(sent != nullptr, "ipc_send_batch", "sent is NULL"));
    *sent = 0;
    IPC_CHECK(check(messages != nullptr || count == 0, "ipc_send_batch", "messages is NULL but count is not 0"));
    return by(sending, channel, [=] {
        return channel->session->send_batch(static_cast<const std::byte*>(messages), lengths, count, sent,
                                            Deadline(timeout_ms));
    });
}

ipc_status ipc_receive_batch(ipc_channel* channel, void* buffer, size_t capacity, uint32_t* lengths, size_t max_count,
                             size_t* count, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, buffer, capacity, timeout_ms, "ipc_receive_batch"));
    IPC_CHECK(check(count != nullptr && lengths != nullptr, "ipc_receive_batch", "lengths or count is NULL"));
    *count = 0;
    IPC_CHECK(check(max_count != 0, "ipc_receive_batch", "max_count is 0"));
    return by(receiving, channel, [=] {
        return channel->session->receive_batch(static_cast<std::byte*>(buffer), capacity, lengths, max_count, count,
                                               Deadline(timeout_ms));
    });
}

// ---- calls

ipc_status ipc_call(ipc_channel* channel, const void* request, size_t request_length, void* reply,
                    size_t reply_capacity, size_t* reply_length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, request, request_length, timeout_ms, "ipc_call"));
    IPC_CHECK(check(reply != nullptr || reply_capacity == 0, "ipc_call", "reply is NULL but its capacity is not 0"));
    IPC_CHECK(check(reply_length != nullptr, "ipc_call", "reply_length is NULL"));
    return by(sending, channel, [=] {
        return channel->session->call(request, request_length, reply, reply_capacity, reply_length,
                                      Deadline(timeout_ms));
    });
}

ipc_status ipc_receive_reply(ipc_channel* channel, void* reply, size_t capacity, size_t* length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, reply, capacity, timeout_ms, "ipc_receive_reply"));
    IPC_CHECK(check(length != nullptr, "ipc_receive_reply", "length is NULL"));
    return by(receiving, channel,
              [=] { return channel->session->receive_kept_reply(reply, capacity, length, Deadline(timeout_ms)); });
}

ipc_status ipc_call_peek(ipc_channel* channel, const void* request, size_t request_length, const void** reply,
                         size_t* reply_length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, request, request_length, timeout_ms, "ipc_call_peek"));
    IPC_CHECK(check(reply != nullptr && reply_length != nullptr, "ipc_call_peek", "an argument is NULL"));
    return by(sending, channel, [=] {
        return channel->session->call_in_place(request, request_length, reply, reply_length, Deadline(timeout_ms));
    });
}

ipc_status ipc_reply_reserve(ipc_reply_writer* writer, size_t length, void** reply) {
    IPC_CHECK(check(writer != nullptr && reply != nullptr, "ipc_reply_reserve", "an argument is NULL"));
    return guarded([&]() -> ipc_status {
        writer->reserved = false; // a second room takes the place of the first, also when there is none to be had
        IPC_CHECK(writer->session->reserve_reply(length, reply, Deadline(IPC_FOREVER)));
        writer->reserved = true;
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
    IPC_CHECK(check_channel(channel, nullptr, 0, 0, "ipc_serve"));
    IPC_CHECK(check(handler != nullptr, "ipc_serve", "the handler is NULL"));
    bool free_it = false;
    const ipc_status ended = serve(channel, handler, user, &free_it);
    if (free_it) quietly([&] { free_now(channel); });
    return ended;
}

ipc_status ipc_receive_request(ipc_channel* channel, const void** request, size_t* length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, request, 1, timeout_ms, "ipc_receive_request"));
    IPC_CHECK(check(length != nullptr, "ipc_receive_request", "length is NULL"));
    return by(receiving, channel,
              [=] { return channel->session->receive_request(request, length, Deadline(timeout_ms)); });
}

ipc_status ipc_reply(ipc_channel* channel, const void* reply, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, reply, length, timeout_ms, "ipc_reply"));
    return by(sending, channel, [=] { return channel->session->reply(reply, length, Deadline(timeout_ms)); });
}

ipc_status ipc_reserve_reply(ipc_channel* channel, size_t length, void** reply, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, reply, 1, timeout_ms, "ipc_reserve_reply"));
    return by_with_room(channel, [=] { return channel->session->reserve_reply(length, reply, Deadline(timeout_ms)); });
}

ipc_status ipc_commit_reply(ipc_channel* channel, size_t length, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, nullptr, 0, timeout_ms, "ipc_commit_reply"));
    return by_with_room(channel, [=] { return channel->session->commit_reply(length, Deadline(timeout_ms)); });
}

ipc_status ipc_fail_request(ipc_channel* channel, const char* text, int32_t timeout_ms) {
    IPC_CHECK(check_channel(channel, text, 1, timeout_ms, "ipc_fail_request"));
    return by(sending, channel, [=] { return channel->session->fail_request(text, Deadline(timeout_ms)); });
}

} // extern "C"
