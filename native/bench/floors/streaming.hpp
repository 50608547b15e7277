#pragma once

#include "floors.hpp"

#include <cstddef>

namespace floors {

// How a message is cut up, and how many of its pieces may be on their way at once.
struct Pieces {
    size_t bytes;
    size_t places;
};

// A ping-pong whose messages go piece by piece through a window each way, spinning: one side copies out while the other still copies in.
double streamed_rtt_ns(const Setup& setup, Sizes sizes, Pieces pieces);

} // namespace floors
