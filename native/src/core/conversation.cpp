#include "core/conversation.hpp"

#include "core/conversation_over.hpp"

#include <algorithm>

namespace ipc {
namespace {

const char* kind_text(FrameKind kind) {
    switch (kind) {
    case FrameKind::message:
        return "a plain message";
    case FrameKind::request:
        return "a request";
    case FrameKind::reply:
        return "a reply";
    case FrameKind::fault:
        return "a fault";
    }
    return "an unknown frame";
}

} // namespace

std::unique_ptr<Conversation> FrameChannel::converse(std::unique_ptr<FrameChannel> self) {
    return std::make_unique<ConversationOver<FrameChannel>>(std::move(self));
}

Status Conversation::too_large(size_t length) const {
    return fail(
        IPC_MESSAGE_TOO_LARGE,
        "a message of %zu bytes is over this channel's limit of %zu: raise it with max= at both ends, or send parts",
        length, limit());
}

Status Conversation::cannot_receive(const char* function) const {
    if (out_of_order_) return fail(IPC_NOT_OUR_PROTOCOL, "%s", order_text_.c_str());
    if (holding_ == Holding::request)
        return fail(IPC_WRONG_STATE, "%s while a request is unanswered: reply to it first", function);
    return fail(IPC_WRONG_STATE, "%s while a peeked message is held: call ipc_release first", function);
}

Status Conversation::break_order(std::string text) {
    out_of_order_ = true;
    order_text_ = std::move(text);
    return fail(IPC_NOT_OUR_PROTOCOL, "%s", order_text_.c_str());
}

Status Conversation::unexpected(FrameKind got, FrameKind wanted) {
    return break_order(std::string("the peer sent ") + kind_text(got) + " where " + kind_text(wanted) +
                       " was expected: a channel carries either calls or plain messages; reconnect");
}

Status Conversation::too_small(size_t length, size_t capacity) {
    return fail(IPC_BUFFER_TOO_SMALL, "the message has %zu bytes and the buffer room for %zu: ask again with more room",
                length, capacity);
}

Status Conversation::handler_failed(const void* text, size_t length) {
    // The text comes from the peer: a sentence's worth of it is enough.
    const int shown = static_cast<int>(std::min<size_t>(length, 1000));
    return fail(IPC_HANDLER_FAILED, "the server's handler failed: %.*s", shown, static_cast<const char*>(text));
}

} // namespace ipc
