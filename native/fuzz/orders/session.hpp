#pragma once

#include "wire.hpp"

#include <array>
#include <atomic>

namespace fuzz {

// What the model knows of one connection, for both its ends. Side 0 is the client, side 1 the server.
struct Session {
    size_t limit = 0;
    // What was sent may still be on its way when the sender says so.
    bool arrives_late = false;
    // A receiver can be called back.
    bool interruptible = false;

    // wire[s] goes out from side s.
    std::array<Wire, 2> wire{Wire(0), Wire(1)};
    // A side's end is being closed, freed or killed.
    std::array<std::atomic<bool>, 2> closing{};
    // Some send was cut by its time-out, or an end refused what came: the connection may end for both.
    std::atomic<bool> cut{false};
};

} // namespace fuzz
