#pragma once

#include "input.hpp"

#include <string>
#include <vector>

namespace fuzz {

// What a hostile process sends where two are to meet. Every choice comes from the input.

// A server's greeting with its descriptors to a client of `shm` (layout 1) or `shm-event` (2), good or bad in any part; ends the
// connection or leaves it open, as the input says. Returns what is to be kept open: sockets.
void greet(int socket, uint32_t layout, Input& input);

// A client's bytes and descriptors to a server; true: it leaves now.
bool bother(int socket, Input& input);

// Clients of `fifo`: writes to the handshake at `path`, and makes what its records speak of, or something else. What is made
// lies in `litter`: names to be removed, descriptors to be closed.
struct Litter {
    std::vector<std::string> names;
    std::vector<int> descriptors;
    Litter() = default;
    Litter(const Litter&) = delete;
    Litter& operator=(const Litter&) = delete;
    ~Litter();
};
void bother_handshake(const std::string& path, Input& input, Litter& litter);
// A server of `fifo`: answers the records that clients write to the handshake, open at `handshake_fifo`.
void answer_handshake(const std::string& path, int handshake_fifo, Input& input, Litter& litter);

} // namespace fuzz
