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
    RawExchange(const Cell& cell, Control& control);

    // The next request.
    void prepare() { payloads_.stamp(++sequence_); }
    // May be called on another thread than the other two, one at a time.
    void call();
    // That the reply is right. Returns the bytes moved, both ways.
    uint64_t check_reply();

  private:
    static constexpr size_t room_for_too_much = 64; // so that a reply a little too long is told apart

    RawPayloads payloads_;
    std::vector<uint8_t> received_;
    Connection connection_;
    uint64_t sequence_ = 0;
    ipc_status status_ = IPC_OK;
    size_t length_ = 0;
};

} // namespace ipc::peer
