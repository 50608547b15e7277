#pragma once

#include "core/frame_channel.hpp"

#include <memory>
#include <string>

namespace ipc {

// What the server answered. The bytes are the CallClient's and good until its drop_reply().
struct CallReply {
    FrameKind kind; // reply or fault
    uint32_t id;    // the request's
    const void* bytes;
    size_t length;
};

// The client's end of a transport that has calls and no channel underneath: kind "call" in registry.json.
// exchange() and drop_reply() come from one thread at a time, close() from any.
class CallClient {
  public:
    virtual ~CallClient() = default;

    // Takes one frame to the server and waits until it is answered (request: *reply is set) or taken (message: `reply` is
    // null). Leaves its failure's error message with fail(). IPC_PEER_CLOSED once the server's channel has ended or its process
    // died, within 2 s. IPC_TIMED_OUT leaves the client good, whatever becomes of the frame: its late answer never shows up
    // as another request's. A transport that cannot do that repeats IPC_TIMED_OUT, with an error message that says so, for ever.
    virtual Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                            CallReply* reply) = 0;
    // The last request's reply is done with; comes before the next request, if there was a reply.
    virtual void drop_reply() {}
    // Tells the server that this client is done and interrupts exchange() within 100 ms, whose status then does not matter.
    virtual void close() = 0;
};

// A channel whose send() is an exchange: a reply is there for next() as soon as send() has returned. The server sends nothing
// of its own accord, so receiving plain messages or requests is refused (IPC_WRONG_STATE). `address` is for error messages.
std::unique_ptr<FrameChannel> make_call_channel(std::unique_ptr<CallClient> client, size_t limit, std::string address);

} // namespace ipc
