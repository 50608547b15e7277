#pragma once

#include "cell.hpp"
#include "connection.hpp"
#include "control.hpp"
#include "measure.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ipc::peer {

// What both ends of a raw call know beforehand of every exchange.
struct RawPayloads {
    std::vector<uint8_t> request;
    std::vector<uint8_t> reply;
    bool sequenced; // workload `ping` carries its two texts alone

    explicit RawPayloads(const Cell& cell);
    void stamp(uint64_t sequence);
};

// The client's exchange in its three steps, of which the second alone is timed.
class RawExchange {
  public:
    explicit RawExchange(const Cell& cell);

    // The next request.
    void prepare() { payloads_.stamp(++sequence_); }
    // May be called on another thread than the other two, one at a time.
    void call(ipc_channel* channel);
    // That the reply is right. Returns the bytes moved, both ways.
    uint64_t check_reply();

  private:
    static constexpr size_t room_for_too_much = 64; // so that a reply a little too long is told apart

    RawPayloads payloads_;
    std::vector<uint8_t> received_;
    uint64_t sequence_ = 0;
    ipc_status status_ = IPC_OK;
    size_t length_ = 0;
};

// One call over a connection of its own, checked; connecting, the call and closing are timed.
Timing call_once(RawExchange& exchange, const Cell& cell, Control& control);

// What a server of raw calls answers.
class RawAnswers {
  public:
    explicit RawAnswers(const Cell& cell);

    // An empty request, which gets an empty reply, is from now on the client's word that it has made its last call.
    void end_by_word() { ends_by_word_ = true; }

    // Receives and answers exchange `number`; false: the client has closed in order instead.
    bool once(ipc_channel* channel, uint64_t number);

  private:
    void answer(ipc_channel* channel, const RequestInPlace& request, uint64_t sequence);

    RawPayloads payloads_;
    std::vector<uint8_t> received_;
    bool ends_by_word_ = false;
};

} // namespace ipc::peer
