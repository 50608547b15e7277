#pragma once

#include "cell.hpp"
#include "control.hpp"
#include "ipc/ipc.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ipc::peer {

// One end of a pair's connection. The end of standard input interrupts whatever is blocked on it.
class Connection {
  public:
    // The client's end: connects at once.
    static Connection connect(const Cell& cell, Control& control);
    // Listens and tells the runner `ready`.
    static Listener listen(const Cell& cell, Control& control);
    // The server's end: listens, tells the runner `ready`, accepts one client and listens no longer.
    static Connection accept(const Cell& cell, Control& control);
    // One more client of a listener that goes on listening.
    static Connection accept(Listener& listener, Control& control);

    // Answers calls with handler(Bytes, ReplyWriter&) until the client closes the connection in order.
    template <class Handler>
    void serve(Handler&& handler) {
        channel_.serve(std::forward<Handler>(handler));
    }

    // For the calls of ipc.h; owned by this object.
    ipc_channel* channel() const { return channel_.handle(); }

  private:
    Connection(Channel channel, Control& control)
        : channel_(std::move(channel)),
          interruptible_(control, [handle = channel_.handle()] { ipc_channel_close(handle); }) {}

    Channel channel_; // first, so that it outlives every interrupt
    Control::Interruptible interruptible_;
};

// Whether a request or message came: false when the client has closed the connection in order; throws on anything else.
inline bool has_arrived(ipc_status status) {
    if (status == IPC_OK) [[likely]]
        return true;
    if (status == IPC_PEER_CLOSED) return false;
    throw Error(status);
}

// A request where it arrived; the next call on its channel takes it back.
struct RequestInPlace {
    const void* data = nullptr;
    size_t size = 0;
};

// Tells the runner how many exchanges were served, and stays for its questions until standard input ends.
void finish_serving(Control& control, uint64_t operations);

// The whole course of a server: accepts one client and calls once(channel, number) for its exchanges 1, 2, 3 ... until
// that returns false, because the client has closed the connection in order.
template <class Once>
void serve_client(const Cell& cell, Control& control, Once&& once) {
    uint64_t operations = 0;
    {
        const Connection connection = Connection::accept(cell, control);
        while (once(connection.channel(), operations + 1)) ++operations;
    }
    finish_serving(control, operations);
}

// The same for a client that connects again and again: exchanges are counted through all its connections, and one without
// any exchange is its last.
template <class Once>
void serve_connections(const Cell& cell, Control& control, Once&& once) {
    uint64_t operations = 0;
    {
        Listener listener = Connection::listen(cell, control);
        uint64_t before = 0;
        do {
            before = operations;
            const Connection connection = Connection::accept(listener, control);
            while (once(connection.channel(), operations + 1)) ++operations;
        } while (operations != before);
    }
    finish_serving(control, operations);
}

// serve_client for calls: answer(channel, request, number).
template <class Answer>
void serve_requests(const Cell& cell, Control& control, Answer&& answer) {
    serve_client(cell, control, [&](ipc_channel* channel, uint64_t number) {
        RequestInPlace request;
        if (!has_arrived(ipc_receive_request(channel, &request.data, &request.size, IPC_FOREVER))) return false;
        answer(channel, request, number);
        return true;
    });
}

// Fails the call and then this process, with the same words.
[[noreturn]] void refuse(ipc_channel* channel, std::string_view status, const std::string& reason);

} // namespace ipc::peer
