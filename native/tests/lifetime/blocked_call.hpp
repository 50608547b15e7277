#pragma once

#include "ipc/ipc.h"

#include <vector>

// Every kind of call in which a thread may be when another one closes, frees or interrupts.
namespace lifetime {

enum class Call { receive, peek, call, receive_request, serve, send };

inline ipc_status IPC_CALL unused_handler(void*, const void*, size_t, ipc_reply_writer*) {
    return IPC_OK;
}

// Blocks in one call until that fails; sends until nothing more fits, and calls sent() after each message that did.
template <class Sent>
ipc_status block(ipc_channel* channel, Call call, Sent sent) {
    char buffer[64] = {};
    const void* in_place = nullptr;
    size_t length = 0;
    switch (call) {
    case Call::receive:
        return ipc_receive(channel, buffer, sizeof buffer, &length, IPC_FOREVER);
    case Call::peek:
        return ipc_peek(channel, &in_place, &length, IPC_FOREVER);
    case Call::call:
        return ipc_call(channel, "x", 1, buffer, sizeof buffer, &length, IPC_FOREVER);
    case Call::receive_request:
        return ipc_receive_request(channel, &in_place, &length, IPC_FOREVER);
    case Call::serve:
        return ipc_serve(channel, unused_handler, nullptr);
    case Call::send:
        break;
    }
    // Longer messages than any transport keeps many of on the way.
    static const std::vector<char> long_message(3 << 20);
    while (true) {
        if (const ipc_status status = ipc_send(channel, long_message.data(), long_message.size(), IPC_FOREVER))
            return status;
        sent();
    }
}

inline ipc_status block(ipc_channel* channel, Call call) {
    return block(channel, call, [] {});
}

} // namespace lifetime
